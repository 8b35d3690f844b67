"""The teacher's kit: which wheels another system needs, and an installation without a network."""

import csv
import io
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest
from click.testing import CliRunner
from conftest import FULL

from microzo_host import cli
from microzo_host.labs import kit, wheels


def wheel(folder, name, tag="py3-none-any", version="1.0", requires=(), files=()):
    """A small wheel."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {text}\n" for text in requires)
    path = pathlib.Path(folder, f"{name}-{version}-{tag}.whl")
    with zipfile.ZipFile(path, "w") as archive:
        for member in (f"{name}/__init__.py", *files):
            archive.writestr(member, b"")
        archive.writestr(f"{info}/METADATA", metadata + "\n")
        archive.writestr(
            f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


def missing(folder, system, root="a", python="3.12"):
    return wheels.missing(folder, root, wheels.TARGETS[system], python)


def test_what_only_another_system_needs_is_seen(tmp_path):
    inside = ["a/_vendor/b-1.0.dist-info/METADATA"]  # says nothing of a
    wheel(
        tmp_path,
        "a",
        files=inside,
        requires=["b>=1", 'colour; sys_platform == "win32"', 'x; extra == "y"'],
    )
    assert missing(tmp_path, "linux") == ["b>=1"]
    wheel(tmp_path, "b", version="0.9")
    assert missing(tmp_path, "linux") == ["b>=1"]
    wheel(tmp_path, "b", version="1.5", requires=["appnope ; platform_system == 'Darwin'"])
    assert missing(tmp_path, "linux") == []
    assert missing(tmp_path, "windows") == ["colour"]
    assert missing(tmp_path, "macos") == ["appnope"]
    assert missing(tmp_path, "linux", "a[y]") == ["x"]


def test_wheels_of_other_systems_and_pythons_do_not_count(tmp_path):
    wheel(tmp_path, "a", "cp312-cp312-win_amd64")
    wheel(tmp_path, "c", "cp311-abi3-macosx_11_0_arm64")
    wheel(tmp_path, "d", "cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64")
    assert missing(tmp_path, "windows") == [] and missing(tmp_path, "linux") == ["a"]
    assert missing(tmp_path, "windows", python="3.13") == ["a"]
    assert missing(tmp_path, "macos", "c", "3.13") == []
    assert missing(tmp_path, "macos-intel", "c") == ["c"]
    assert missing(tmp_path, "linux", "d", "3.14") == []
    wheel(tmp_path, "e", "py2.py3-none-manylinux1_x86_64")
    assert missing(tmp_path, "linux", "e") == [] and missing(tmp_path, "macos", "e") == ["e"]


def test_a_portable_wheel_has_everything_but_the_kernels(tmp_path):
    source = wheel(
        tmp_path, "microzo", "cp311-abi3-manylinux_2_17_x86_64",
        files=["microzo_host/_native.abi3.so", "microzo_host/native.py"],
    )  # fmt: skip
    (tmp_path / "out").mkdir()
    made = wheels.portable(source, tmp_path / "out")
    assert made.name == "microzo-1.0-py3-none-any.whl"
    with zipfile.ZipFile(made) as archive:
        names = set(archive.namelist())
        text = archive.read("microzo-1.0.dist-info/WHEEL").decode()
        rows = list(csv.reader(io.StringIO(archive.read("microzo-1.0.dist-info/RECORD").decode())))
    assert "microzo_host/native.py" in names and "microzo_host/_native.abi3.so" not in names
    assert text.count("Tag:") == 1 and "Tag: py3-none-any\n" in text and "Purelib: true" in text
    assert {row[0] for row in rows} == names
    with pytest.raises(ValueError, match="fits every system as it is"):
        wheels.portable(made, tmp_path)
    target = tmp_path / "installed"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*command, "--target", target, made], check=True, capture_output=True)
    assert (target / "microzo_host" / "native.py").exists()


def test_fetching_goes_on_until_nothing_is_missing(tmp_path, monkeypatch):
    """pip is stood in for by one that knows nothing of other systems."""
    asked = []

    def pip(store, target, python, what):
        asked.append(what)
        if what == [kit.ROOT]:
            wheel(store, "microzo", requires=['b; os_name == "nt" and extra == "lab"'])
        elif what == ["--no-deps", "b"]:
            wheel(store, "b", requires=["c"])
        elif what == ["--no-deps", "c"]:
            wheel(store, "c")

    monkeypatch.setattr(kit, "_pip", pip)
    own = wheel(tmp_path, "microzo", "cp311-abi3-win_amd64", files=["microzo_host/_native.pyd"])
    kit.make(tmp_path / "kit", own, ["windows"], ["3.12"], say=lambda text: None)
    assert asked == [[kit.ROOT], ["--no-deps", "b"], ["--no-deps", "c"]]
    names = {path.name for path in (tmp_path / "kit").iterdir()}
    assert {"install.py", "README.txt", "wheels"} <= names


def test_without_a_wheel_a_sentence_tells_the_cure(tmp_path, monkeypatch):
    monkeypatch.setattr("microzo_host.labs.kit.place.output", lambda name: tmp_path)
    result = CliRunner().invoke(cli.main, ["kit", str(tmp_path / "kit")])
    assert result.exit_code == 1 and "no wheel of microzo here: run `make dist`" in result.output


@pytest.mark.skipif(not FULL, reason="minutes, and a package index: make test-full")
def test_a_kit_installs_without_a_network_and_runs_a_lab(tmp_path):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(["device", "host_tools"]))
    env.setdefault("MPY", "build/micropython-1.25.0")
    root = kit.place.CLONE
    command = [sys.executable, "boards/tools/dist.py", tmp_path / "dist"]
    subprocess.run(command, cwd=root, env=env, check=True, capture_output=True)
    (own,) = (tmp_path / "dist").glob("*.whl")
    folder = tmp_path / "kit"
    arguments = ["kit", str(folder), "--system", "linux", "windows", "macos", "--wheel", str(own)]
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 0, result.output
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP", "MICROZO"))}
    clean["PIP_NO_INDEX"] = "1"
    command = [sys.executable, folder / "install.py", tmp_path / "user"]
    done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    labs = tmp_path / "user" / "labs"
    execute = tmp_path / "user" / "python" / "bin" / "jupyter-execute"
    command = [execute, "--inplace", labs / "1-meet-the-board.ipynb"]
    done = subprocess.run(command, cwd=labs, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "98.5 % of 200" in (labs / "1-meet-the-board.ipynb").read_text()
    version = [labs.parent / "python" / "bin" / "jupyter-lab", "--version"]
    assert subprocess.run(version, env=clean, capture_output=True).stdout.startswith(b"4.")
