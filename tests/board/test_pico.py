"""A Raspberry Pi Pico: MicroPython's own firmware in emulators of RP2040, our native module.

rp2040js is the fast one; rp2040py is written by others and has a flash chip of its own.
"""

import json
import os
import pathlib
import subprocess
import sys

import golden_run
import pytest
import small

import microzo
from microzo_host import place, replay
from microzo_host.board import info as board_info
from microzo_host.board import pico, push
from microzo_host.board.emulator import Board
from microzo_host.board.files import Files
from microzo_host.board.link import Link
from microzo_host.demo import prepare, session
from microzo_host.plan import ram as ramplan

RECIPES = ("realign", "spsa", "head", "tail", "forward_only", "default")
PICO = ramplan.BOARDS["RPI_PICO"]
INFO = session.board_of(PICO.core)
MODULE = place.parts("natmod") / "armv6m" / "_microzo.mpy"
SAMPLES = 24
FULL = bool(os.environ.get("MICROZO_FULL"))
full = pytest.mark.skipif(not FULL, reason="minutes: make test-full")
fast = pytest.mark.skipif(bool(pico.missing()), reason=str(pico.missing()))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.board,
    pytest.mark.skipif(not MODULE.exists(), reason="no module for armv6m: make firmware-pico"),
]
TRAIN = """
import microzo
model = microzo.load("{0}small.safetensors")
recipe = microzo.recipe("spsa")
recipe["samples"] = 8
trainer = microzo.Trainer(model, recipe, journal="{0}pico.journal")
for step in trainer.run(microzo.Dataset("{0}x.npy", "{0}y.npy"), steps=2):
    pass
print(microzo.kernels().__name__, model.k.crc32(model.state, 0, len(model.state)))
"""


def microzo_command(*words):
    command = [sys.executable, "-m", "microzo_host.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@fast
def test_six_recipes_end_in_the_goldens(tmp_path):
    """Less than two minutes of a core."""
    sets = golden_run.make_sets(tmp_path)
    which = golden_run.cases(names=RECIPES)
    results = golden_run.on_pico(
        sets, tmp_path, which, replay=bool(os.environ.get("MICROZO_FULL"))
    )
    goldens = golden_run.read()
    assert results == {name: goldens[name] for name in RECIPES}


@full
@pytest.mark.skipif(bool(pico.missing("rp2040py")), reason=str(pico.missing("rp2040py")))
def test_push_and_train_in_the_other_emulator(tmp_path, capsys):
    model = small.write_model(tmp_path / "small.safetensors")
    files = [model, *small.write_data(tmp_path, model)]
    plan, _ = push.plan_files(INFO, [])
    missing = "/lib/microzo/board/clock.mpy"
    there = {path: data for path, data in plan if path != missing}
    with pico.Pico(there, emulator="rp2040py") as board:
        said = microzo_command("push", board.port, *files)
        assert "4 files copied and verified" in said, said
        with Link(board.port, reset=False) as link:
            assert board_info.ask(link).arch == "armv6m"
            assert "RP2040" in link.value("__import__('sys').implementation._machine", str)
            said = link.exec(TRAIN.format(""), timeout=600).split()
            assert Files(link).get("/pico.journal")[:4]
    exec(TRAIN.format(f"{tmp_path}/"), {})
    assert said[-2:] == ["_microzo", capsys.readouterr().out.split()[-1]]
    assert microzo.kernels().__name__ == "microzo_host.native"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """(model, its data's case, what a board has of them beside the package) of the demo."""
    folder = tmp_path_factory.mktemp("demo")
    model, _, _ = prepare.model("mnist", folder)
    case = prepare.case("mnist", "rotate_fixed", 5, folder, train=SAMPLES, test=10)
    data = {name: path for name, path in case.files.items() if name.startswith("train")}
    return model, case, {**dict(push.plan_files(INFO, [])[0]), "model.safetensors": model, **data}


def trained(board, ballast=0):
    """What train.py prints of a short run of `default`, and its RESULT; ballast: bytes of the heap
    that something else holds."""
    command = session.command(board.port, "default", 3)
    command[4] = f"ballast = bytearray({ballast}); {command[4]}"
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=place.CLONE, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-500:]
    lines = done.stdout.splitlines()
    return lines, json.loads(lines[-1].removeprefix(session.RESULT))


@full
@fast
def test_default_with_a_cache_file_is_pulled_and_replayed(demo, tmp_path):
    """And takes the heap that the plan says, within 2 %."""
    model, case, disk = demo
    planned = ramplan.predict(model, samples=SAMPLES, ram=PICO.ram, core=PICO.core)
    assert planned.fits and not planned.notes
    with pico.Pico(disk) as board:
        lines, result = trained(board)
        assert not any("instead" in line for line in lines)
        names = ("adapted.safetensors", "train.journal")
        microzo_command("pull", board.port, *names, "--out", tmp_path)
    heap = planned.peak - planned.parts["data and bss"] - planned.parts["stack"]
    assert abs(heap - result["heap_peak"]) <= 0.02 * result["heap_peak"], (heap, result)
    data = [str(case.files[name]) for name in ("train_x.npy", "train_y.npy")]
    journal, adapted = tmp_path / names[1], tmp_path / names[0]
    assert replay.replay(model, journal, data, adapted).same_file
    kinds = [spec["kind"] for spec in planned.stages]
    assert "tail" in kinds and pathlib.Path(journal).stat().st_size > 100


@full
@fast
def test_what_a_pico_has_no_room_for_is_told(demo):
    """The tail has a margin of few KB: beside another program the head is trained, and the first
    line says so."""
    _, _, disk = demo
    with pico.Pico(disk) as board:
        lines, _ = trained(board, ballast=16384)
    told = [line for line in lines if line.startswith("microzo: warning: no tail of operator 8")]
    assert told and told[0].endswith("head instead")
    assert lines.index(told[0]) < min(i for i, line in enumerate(lines) if "step 1/" in line)


@full
@fast
def test_the_plan_knows_the_heap(model_path):
    """The room that `microzo plan --board RPI_PICO` sees is what is free there, within 2 %."""
    code = "import gc\ngc.collect()\nprint(gc.mem_free())"
    with Board() as emulated:
        free = int(emulated.exec(code))
    with pico.Pico({"a": b"1"}) as board, Link(board.port, reset=False) as link:
        there = int(link.exec(code, timeout=300))
    recipe = microzo.recipe("spsa")
    rooms = [
        ramplan.room(microzo.load(model_path), recipe, ram, False) for ram in (256 << 10, PICO.ram)
    ]
    assert abs(free - (rooms[0] - rooms[1]) - there) < 0.02 * there
