"""CircuitPython: the kernels in Python, unmodified, within the limits of its small boards.

"limits" is MicroPython's unix port with these limits (31-bit integers, single floats, 2 KB of
Python frames, no function that CircuitPython leaves out). CircuitPython's own unix port is tested
where CIRCUITPY_DIR named a tree of it to `make circuitpython`.
"""

import os
import pathlib
import subprocess

import golden_run
import pytest
import small

import microzo
from microzo.board import crc
from microzo_host import place
from microzo_host.board import emulator, push

RECIPES = ("realign", "spsa", "head", "tail", "forward_only", "default")
LIMITS = place.CLONE / "boards" / "circuitpython" / "limits" / "limits.py"
BOARD_HEAP = "200K"  # what a Pico has for Python, less than its 190 KB of CircuitPython leave
DEMO = """
import sys, microzo
model = microzo.load(sys.argv[1] + "demo.safetensors")
data = microzo.Dataset(sys.argv[1] + "demo.x.npy", sys.argv[1] + "demo.y.npy")
recipe = microzo.recipe(sys.argv[2])
recipe["samples"] = 2
for stage in recipe["stages"]:
    stage["guard"] = ""
    if "antithetic" in stage:
        stage.update(steps=1, probes=1, samples=1)
    elif "epochs" in stage:
        stage.update(epochs=1, batch=2)
trainer = microzo.Trainer(model, recipe)
for step in trainer.run(data):
    pass
print(trainer.program["stages"][-1]["kind"], model.k.crc32(model.state, 0, len(model.state)))
"""
LACKS = """
names = "time.ticks_ms gc.threshold binascii.crc32 micropython.heap_lock".split()
pairs = [name.split(".") for name in names]
print(*[".".join(pair) for pair in pairs if not hasattr(__import__(pair[0]), pair[1])])
print(1 / 3 == 0.3333333432674408)
def depth(n):
    try:
        return depth(n + 1)
    except RuntimeError:
        return n
print(depth(0))
"""


@pytest.fixture(scope="module", params=["micropython-limits", "circuitpython"])
def interpreter(request, tmp_path_factory):
    """run(heap, script, arguments): what a script prints, with the compiled package."""
    binary = emulator.UNIX / request.param
    if not binary.exists():
        pytest.skip(f"no {binary.name}: make circuitpython (CIRCUITPY_DIR= for CircuitPython's)")
    folder = tmp_path_factory.mktemp("package")
    files = push.package_files()
    if request.param == "circuitpython":
        files = push.for_circuitpython(files)
    for target, data in files.items():
        path = folder / target.strip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    prelude = [LIMITS] if request.param == "micropython-limits" else []

    def run(heap, *arguments):
        command = [binary, "-X", f"heapsize={heap}", *prelude, *arguments]
        env = {**os.environ, "MICROPYPATH": str(folder / "lib")}
        done = subprocess.run(
            list(map(str, command)), env=env, capture_output=True, text=True, timeout=500
        )
        assert done.returncode == 0, done.stdout[-500:] + done.stderr[-1500:]
        return done.stdout

    run.binary = request.param
    return run


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    return golden_run.make_sets(tmp_path_factory.mktemp("sets"))


@pytest.mark.slow
def test_six_recipes_end_in_the_goldens(interpreter, sets, tmp_path):
    """With journals, saved models and replays, all in one process."""
    cases = golden_run.prepare(tmp_path, golden_run.cases(names=RECIPES))
    said = interpreter("400K", golden_run.RUNNER, cases, f"{sets}/", f"{tmp_path}/")
    assert "pure-Python" in said
    lines = [line for line in said.splitlines() if not line.startswith("microzo: ")]
    goldens = golden_run.read()
    assert golden_run.parse("\n".join(lines)) == {name: goldens[name] for name in RECIPES}


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["realign", "spsa", "head"])
def test_the_demo_network_fits_a_small_board(recipe, interpreter, sets, tmp_path):
    """200 KB are about what a Pico leaves; what does not fit there is left out, and told."""
    script = tmp_path / "demo.py"
    script.write_text(DEMO)
    said = interpreter(BOARD_HEAP, script, f"{sets}/", recipe)
    assert said.splitlines()[-1].split()[0] == recipe
    if recipe == "spsa":
        assert "microzo: warning: no spsa of operators [0, 1" in said


def test_the_limits_are_there(interpreter, tmp_path):
    """What CircuitPython's own port for PCs has besides, its boards do not."""
    script = tmp_path / "limits.py"
    script.write_text(LACKS)
    lacks, single, deep = interpreter("100K", script).splitlines()
    assert single == "True" and 10 < int(deep) < 100
    missing = {"time.ticks_ms", "gc.threshold", "binascii.crc32", "micropython.heap_lock"}
    assert {"gc.threshold"} <= set(lacks.split()) <= missing
    assert interpreter.binary == "circuitpython" or set(lacks.split()) == missing


@pytest.mark.parametrize("data", [b"", b"123456789", bytes(range(256)) * 3])
def test_crc_is_that_of_binascii(data):
    import binascii
    from array import array

    assert crc.crc32(data) == binascii.crc32(data)
    assert crc.crc32(data, 77) == binascii.crc32(data, 77)
    assert crc.of_part(data, 0, len(data) // 2) == binascii.crc32(data[: len(data) // 2])
    words = array("i", [1, -2, 3])
    assert crc.crc32(words) == binascii.crc32(words)


def test_a_model_is_saved_without_binascii(tmp_path, monkeypatch):
    from microzo.net import save

    path = small.write_model(tmp_path / "m.safetensors")
    x, y = small.write_data(tmp_path, path)
    model = microzo.load(path)
    small.train(model, microzo.Dataset(x, y), small.short("spsa"))
    model.save(str(tmp_path / "one"))
    monkeypatch.setattr(save, "crc32", crc.crc32)
    model.save(str(tmp_path / "two"))
    assert pathlib.Path(tmp_path, "one").read_bytes() == pathlib.Path(tmp_path, "two").read_bytes()
