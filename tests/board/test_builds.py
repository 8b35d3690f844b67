"""The build itself: extra user modules in the firmware, and what it refuses."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from microzo_host.board.emulator import CORES, Board
from microzo_host.place import CLONE as ROOT

MODULE = """
#include "py/runtime.h"
static const mp_rom_map_elem_t table[] = {
    { MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR_extra_answer) },
    { MP_ROM_QSTR(MP_QSTR_answer), MP_ROM_INT(42) },
};
static MP_DEFINE_CONST_DICT(globals, table);
const mp_obj_module_t extra_answer = { { &mp_type_module }, (mp_obj_dict_t *)&globals };
MP_REGISTER_MODULE(MP_QSTR_extra_answer, extra_answer);
"""


def build_firmware(out, extra):
    """Runs the Makefile's own script, into a folder of its own."""
    env = dict(os.environ, EXTRA_C_MODULES=str(extra), OUT=str(out), KINDS="usermod", SIZES="256K")
    # make sets these; the defaults serve a pytest started by hand.
    env.setdefault("MPY", "build/micropython-1.25.0")
    env.setdefault("OBJDIR", "build/obj-1.25.0")
    return subprocess.run(
        ["boards/tools/build_firmware.sh"], cwd=ROOT, env=env, capture_output=True, text=True
    )


@pytest.mark.board
@pytest.mark.skipif(not os.environ.get("MICROZO_FULL"), reason="a firmware build: make test-full")
def test_extra_c_modules_are_in_the_firmware(tmp_path):
    module = tmp_path / "modules" / "extra"
    module.mkdir(parents=True)
    (module / "extra.c").write_text(MODULE)
    (module / "micropython.mk").write_text("SRC_USERMOD_C += $(USERMOD_DIR)/extra.c\n")
    done = build_firmware(tmp_path, tmp_path / "modules")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    with Board(firmware=tmp_path / "mps2-an386-256K-usermod.elf") as board:
        out = board.exec("import _microzo, extra_answer; print(extra_answer.answer)")
    assert out.strip() == "42"


def test_extra_c_modules_without_a_module_are_refused(tmp_path):
    done = build_firmware(tmp_path, tmp_path)
    assert done.returncode != 0
    assert "no micropython.mk" in done.stdout


def test_the_makefile_lists_every_target():
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True).stdout
    makefile = (ROOT / "Makefile").read_text()
    phony = makefile.split(".PHONY:")[1].split("\n\n")[0].replace("\\\n", " ").split()
    for target in phony:
        assert f"make {target} " in listed, target


def test_a_version_without_a_hash_is_refused(tmp_path):
    done = subprocess.run(
        ["python3", "boards/tools/fetch_micropython.py", "0.0.1", str(tmp_path / "x")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and "MPY_DIR" in done.stderr


def fetch(version, folder, **env):
    """Runs fetch_micropython.py where there is no apt."""
    tools = folder.parent / "bin"
    tools.mkdir()
    for tool in ("git", "tar", "xz"):
        (tools / tool).symlink_to(shutil.which(tool))
    return subprocess.run(
        [sys.executable, "boards/tools/fetch_micropython.py", version, str(folder)],
        cwd=ROOT,
        env={**env, "PATH": str(tools), "HOME": str(folder.parent)},
        capture_output=True,
        text=True,
    )


def test_without_a_mirror_upstreams_tag_is_taken(tmp_path):
    upstream = tmp_path / "upstream"
    (upstream / "py").mkdir(parents=True)
    (upstream / "py" / "dynruntime.mk").write_text("")
    git = ["git", "-C", upstream, "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "v1.25.0"]):
        subprocess.run([*git, *command], check=True)
    done = fetch(
        "1.25.0",
        tmp_path / "source",
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0=f"url.file://{upstream}.insteadOf",
        GIT_CONFIG_VALUE_0="https://github.com/micropython/micropython.git",
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "source" / "py" / "dynruntime.mk").is_file()


def test_neither_mirror_nor_upstream_is_said(tmp_path):
    done = fetch(
        "1.25.0",
        tmp_path / "source",
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0="url.file:///nowhere/.insteadOf",
        GIT_CONFIG_VALUE_0="https://github.com/",
    )
    assert done.returncode != 0 and "MPY_DIR" in done.stderr
    assert not (tmp_path / "source").exists()


def test_mpy_dir_that_holds_no_source_is_refused(tmp_path):
    done = subprocess.run(
        ["make", "source", f"MPY_DIR={tmp_path}"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode != 0 and "no MicroPython source" in done.stderr


def test_a_tree_that_is_too_old_is_refused(tmp_path):
    (tmp_path / "py").mkdir()
    (tmp_path / "py" / "dynruntime.mk").touch()
    lines = ("#define MICROPY_VERSION_MAJOR 1", "#define MICROPY_VERSION_MINOR 24", "")
    (tmp_path / "py" / "mpconfig.h").write_text("\n".join(lines))
    command = [sys.executable, "boards/tools/check_tree.py", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0 and "is MicroPython 1.24: give a tree of 1.25" in done.stderr
    (tmp_path / "py" / "mpconfig.h").write_text("\n".join(lines).replace("24", "25"))
    subprocess.run(command, cwd=ROOT, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("goals", ["firmware-all", "build firmware-all", "test-full", "dist"])
def test_all_boards_get_their_native_module(goals):
    env = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "ARCHS")}
    command = ["make", "-n", *goals.split()]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    (archs,) = re.findall(r"build_natmod\.sh (.*)", done.stdout)
    assert set(archs.split()) == {"x64", "xtensawin", *(core.arch for core in CORES.values())}


@pytest.mark.parametrize(("flags", "runs"), [("n", False), ("", True), ("w -- N=n", True)])
def test_a_dry_run_does_no_step(flags, runs, tmp_path):
    step = [sys.executable, ROOT / "boards/tools/step.py", "1/7", "a step", "--", "touch", "made"]
    env = dict(os.environ, MAKEFLAGS=flags)
    subprocess.run(step, cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "made").exists() is runs
    assert (tmp_path / "build" / "stamps" / "a-step").exists() is runs
