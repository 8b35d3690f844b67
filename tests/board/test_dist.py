"""What users install: built, then installed and used outside the clone (boards/tools/dist*.py)."""

import os
import subprocess
import sys

import pytest

from microzo_host import place
from microzo_host.board import pico, push

TOOLS = place.CLONE / "boards" / "tools"


def tool(name, *args):
    folders = (str(place.CLONE / name) for name in ("device", "host_tools"))
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(folders))
    env.setdefault("MPY", "build/micropython-1.25.0")
    command = [sys.executable, TOOLS / name, *map(str, args)]
    done = subprocess.run(command, cwd=place.CLONE, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.skipif(not os.environ.get("MICROZO_FULL"), reason="two minutes: make test-full")
@pytest.mark.slow
@pytest.mark.board
def test_the_wheel_is_enough(tmp_path):
    tool("dist.py", tmp_path / "dist")
    said = tool("dist_check.py", tmp_path / "dist", "--quick")
    assert "pushed to the emulated board, same bits" in said
    assert "mip armv7emsp: its kernels run" in said
    assert pico.missing() or "a Pico: examples, push, run; same bits there and here" in said


@pytest.mark.slow
def test_a_native_module_is_the_same_in_every_folder(tmp_path):
    """And holds no path of the computer that built it."""
    built = []
    for name in ("one", "other"):
        env = dict(os.environ, OUT=str(tmp_path / name), OBJECTS=f"build/test-natmod/{name}")
        env.setdefault("MPY", "build/micropython-1.25.0")
        env.setdefault("OBJDIR", "build/obj-1.25.0")
        command = ["boards/tools/build_natmod.sh", "armv7m"]
        subprocess.run(command, cwd=place.CLONE, env=env, check=True, capture_output=True)
        built.append((tmp_path / name / "armv7m" / "_microzo.mpy").read_bytes())
    assert built[0] == built[1]
    assert os.fsencode(place.CLONE) not in built[0]


def test_the_lock_and_the_ranges_agree():
    """What the project uses is what a user may have."""
    import tomllib

    from packaging.requirements import Requirement

    project = tomllib.loads((place.CLONE / "pyproject.toml").read_text())["project"]
    lines = (TOOLS / "requirements.lock").read_text().splitlines()
    lock = dict(line.lower().split("==") for line in lines if not line.startswith("#"))
    texts = [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]
    for requirement in map(Requirement, texts):
        if requirement.name != "microzo":
            assert requirement.specifier.contains(lock[requirement.name.lower()]), requirement


def test_circuitpythons_files_differ_in_one_byte():
    files = {"a.mpy": b"M\x06\0\x1f", "b.py": b"M"}
    assert push.for_circuitpython(files) == {"a.mpy": b"C\x06\0\x1f", "b.py": b"M"}
