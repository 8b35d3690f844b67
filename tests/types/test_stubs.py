"""The typing stubs say what the package is: mypy's stubtest compares them with it."""

import os
import pathlib
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

import microzo

pytest.importorskip("mypy", reason="the extra `docs` is not installed")
pytestmark = pytest.mark.slow
DEVICE = pathlib.Path(microzo.__file__).parent
STUBS = sorted(path.relative_to(DEVICE) for path in DEVICE.rglob("*.pyi"))
USER = """
import microzo
model = microzo.load("m.safetensors")
data = microzo.Dataset("x.npy", "y.npy")
trainer = microzo.Trainer(model, recipe="default", seed=1)
for step in trainer.run(data):
    if step.loss is not None:
        print(round(step.loss, 2), step.stage)
print(float(model.evaluate(microzo.ArrayData(bytes(4), [0]))))
"""
WRONG = """microzo.Trainer(model, seed="1")
trainer.run(4)
round(step.loss, 2)
"""


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    """A folder with the stubs alone, as mypy takes them: it would check the source, too."""
    folder = tmp_path_factory.mktemp("stubs")
    package = folder / "microzo"
    for name in STUBS:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DEVICE / name, package / name)
    for path in [p for p in package.rglob("*") if p.is_dir()]:
        (path / "__init__.pyi").touch()
    return folder


def run(folder, *command):
    """(exit status, output) of a module of mypy that finds the stubs in a folder."""
    env = {**os.environ, "MYPYPATH": str(folder), "PYTHONPATH": str(DEVICE.parent)}
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        capture_output=True, text=True, cwd=folder.parent, env=env, timeout=300,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def stubtest(folder):
    """Modules without a stub are let through, and nothing else."""
    with_stub = {".".join(("microzo", *name.with_suffix("").parts)) for name in STUBS}
    modules = [m.name for m in pkgutil.walk_packages(microzo.__path__, "microzo.")]
    private = [name for name in modules if name not in with_stub]
    (folder / "private").write_text("\n".join(private) + "\n")
    return run(folder, "mypy.stubtest", "microzo", "--allowlist", folder / "private",
               "--ignore-unused-allowlist")  # fmt: skip


def test_the_stubs_are_the_package(stubs):
    status, output = stubtest(stubs)
    assert status == 0, output


def test_a_stub_that_is_wrong_is_found(stubs, tmp_path):
    copy = tmp_path / "stubs"
    shutil.copytree(stubs, copy)
    stub = copy / "microzo" / "__init__.pyi"
    text = stub.read_text()
    for right, wrong in (("seed: int = 1", "seed: int = 2"), ("def finished", "def finishes")):
        assert right in text
        text = text.replace(right, wrong)
    stub.write_text(text)
    status, output = stubtest(copy)
    assert status == 1
    assert "microzo.Trainer.__init__" in output and "microzo.Trainer.finishes" in output
    assert "microzo.Trainer.finished" in output  # at runtime, not in the stub


def test_what_a_user_writes_is_checked(stubs, tmp_path):
    script = tmp_path / "user.py"
    script.write_text(USER + WRONG)
    status, output = run(stubs, "mypy", "--strict", "--cache-dir", tmp_path, script)
    first = len(USER.splitlines()) + 1
    lines = [int(n) for n in re.findall(r"user.py:(\d+): error", output)]
    assert status == 1 and set(lines) == set(range(first, first + 3)), output
    for told in ('expected "int"', 'expected "DataSource"', '"float | None"'):
        assert told in output


def test_the_wheel_has_them():
    """And the templates of pages: what setuptools is told to put into it."""
    root = DEVICE.parents[1]
    settings = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    homes = {"microzo": DEVICE, "microzo_host": root / "host_tools" / "microzo_host"}
    files = {
        path
        for package, patterns in settings["package-data"].items()
        for pattern in patterns
        for path in homes[package].glob(pattern)
    }
    assets = homes["microzo_host"] / "report" / "assets"
    expected = {DEVICE / "py.typed", *(DEVICE / name for name in STUBS), *assets.iterdir()}
    assert expected <= files and len(STUBS) >= 4
