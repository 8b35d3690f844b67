"""Other versions of MicroPython give the same bits: those whose trees MICROZO_TREES names.

MICROZO_TREES="folder folder" pytest tests/golden/test_versions.py builds each tree's unix port,
which loads the native module that the version in use built, and from 1.25 on its emulated board.
Trees that `make` fetched into build/ count, too.
"""

import os
import pathlib
import subprocess
import sys

import golden_run
import pytest

from microzo_host import place
from microzo_host.board import emulator, push

sys.path.append(str(place.CLONE / "boards" / "tools"))

import check_tree  # noqa: E402

RECIPES = ("realign", "spsa", "head", "tail", "forward_only", "default")
TREES = [
    *os.environ.get("MICROZO_TREES", "").split(),
    *map(str, sorted((place.CLONE / "build").glob("micropython-1.*[0-9]"))),
]
IN_USE = place.CLONE / os.environ.get("MPY", "build/micropython-1.25.0")
TREES = [tree for tree in TREES if pathlib.Path(tree) != IN_USE]
UNIX_PORT = """. boards/tools/build_env.sh
make_mpy ports/unix VARIANT=standard BUILD="$root/$OBJDIR/unix-stock" FROZEN_MANIFEST= \
    MICROPY_PY_FFI=0 MICROPY_PY_BTREE=0 MICROPY_PY_SSL=0 MICROPY_SSL_MBEDTLS=0
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("MICROZO_FULL"), reason="minutes: make test-full"),
    pytest.mark.skipif(not TREES, reason="no other tree of MicroPython: set MICROZO_TREES"),
]


@pytest.fixture(scope="module", params=TREES, ids=lambda tree: pathlib.Path(tree).name)
def tree(request):
    return pathlib.Path(request.param).absolute()


@pytest.fixture(scope="module")
def built(tree):
    """built(command, outputs folder): runs a build script for the tree; the folder it used."""
    folder = place.CLONE / "build" / "versions" / ".".join(map(str, check_tree.version(tree)))
    env = dict(
        os.environ, MPY=str(tree), OBJDIR=str(folder.relative_to(place.CLONE)), SIZES="256K"
    )
    env.update(OUT=str(folder), KINDS="stock")

    def run(*command):
        done = subprocess.run(command, cwd=place.CLONE, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-2000:]
        return folder

    run("boards/tools/build_mpy_cross.sh")
    return run


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    return golden_run.make_sets(tmp_path_factory.mktemp("sets"))


def check(results):
    goldens = golden_run.read()
    assert set(results) == set(RECIPES)
    assert {name: goldens[name] for name in RECIPES} == results


def test_unix_port_loads_the_module_of_the_version_in_use(built, sets, tmp_path, monkeypatch):
    folder = built("sh", "-c", UNIX_PORT)
    monkeypatch.setenv("MICROZO_UNIX", str(folder / "unix-stock" / "micropython"))
    module = place.parts("natmod") / "x64"
    assert module in {path.parent for path in push.built_modules()}, "run `make natmod`"
    unix = emulator.Unix(path=[place.CLONE / "device", module], heap="16M")
    cases = golden_run.prepare(tmp_path, golden_run.cases(names=RECIPES))
    said = unix.run(golden_run.RUNNER, cases, f"{sets}/", f"{tmp_path}/", timeout=300)
    assert "pure-Python" not in said
    check(golden_run.parse(said))


@pytest.mark.board
def test_emulated_board_builds_and_trains(tree, built, sets, tmp_path, monkeypatch):
    if check_tree.version(tree) < check_tree.OLDEST:
        pytest.skip("runs, but does not build, before 1.25")
    folder = built("boards/tools/build_firmware.sh")
    monkeypatch.setattr(emulator, "FIRMWARE", folder)
    check(golden_run.on_board(sets, tmp_path, golden_run.cases(names=RECIPES)))
