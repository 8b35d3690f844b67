"""Imported models are trained on the 256-KB board, their frozen weights mapped from ROMFS."""

import functools
import json

import job
import numpy as np
import pytest

import microzo
from microzo.net import arena as planner
from microzo.net import words as L
from microzo_host.board import push
from microzo_host.board import romfs as romfs_image
from microzo_host.demo import session
from microzo_host.importers import import_model
from microzo_host.model import file as modelfile
from microzo_host.plan import ram as ramplan

pytest.importorskip("tflite", reason="the package tflite reads the files")

SHARED = push.ROOT.parent / "shared"
RESNET, KEYWORDS = "resnet8_cifar10", "kws"
SAMPLES, STEPS = 24, 2
ON_ROM = "/rom/model.safetensors"

RUNS = [(RESNET, "spsa", [10, 13]), (KEYWORDS, "default", "auto")]
SLOW_RUNS = [
    (RESNET, "realign", "auto"), (RESNET, "head", "auto"), (RESNET, "default", "auto"),
    (RESNET, "tail", "auto"),
    (RESNET, "forward_only", [10, 13]), (KEYWORDS, "realign", "auto"), (KEYWORDS, "head", "auto"),
    (KEYWORDS, "tail", "auto"), (KEYWORDS, "spsa", "auto"), (KEYWORDS, "spsa", [8, 10]),
    (KEYWORDS, "elastic", "auto"),
]  # fmt: skip


@functools.cache
def shared(name):
    """(calibration samples, changed samples, labels), uint8, for a model in ../shared."""
    data, file = ("cifar10_subset", f"{name}_int8.tflite")
    data = data if name == RESNET else "kws_features"
    for path in (SHARED / "models" / file, SHARED / "data" / f"{data}.npz"):
        if not path.is_file():
            pytest.skip(f"{path} is not here")
    arrays = np.load(SHARED / "data" / f"{data}.npz")
    if name == RESNET:
        changed = (arrays["test_x"] * 0.4 + 122).astype(np.uint8)  # seen through mist
        return arrays["train_x"][:200], changed, arrays["test_y"].astype(np.uint8)
    x = (arrays["x"].astype(np.int16) + 128).reshape(-1, 49, 10, 1)
    louder = np.clip(x + 12, 0, 255).astype(np.uint8)
    return x[:200].astype(np.uint8), louder[200:], arrays["y"][200:].astype(np.uint8)


def model_file(name, folder):
    """The model with statistics of its clean samples, as a file."""
    calib, _, _ = shared(name)
    path = folder / f"{name}.safetensors"
    modelfile.write(path, import_model(SHARED / "models" / f"{name}_int8.tflite", calib))
    return path


def data_files(name, folder):
    """{name on the board: file} of changed samples and their labels, to train on and to test."""
    _, x, y = shared(name)
    files = {}
    for part, count in (("train", SAMPLES), ("test", 2)):
        for letter, values in (("x", x), ("y", y)):
            files[f"{part}_{letter}.npy"] = folder / f"{part}_{letter}.npy"
            np.save(files[f"{part}_{letter}.npy"], values[:count])
    return files


def on_host(model, data, recipe, layers, folder):
    """(journal's records, adapted model) of the same run here, with the board's room."""
    journal, adapted = folder / "host.journal", folder / "host.safetensors"
    made = microzo.load(str(model))
    room = ramplan.room(made, microzo.recipe(recipe), 256 << 10, True)
    trainer = microzo.Trainer(made, recipe, layers=layers, journal=str(journal), ram=room)
    for _ in trainer.run(
        microzo.Dataset(str(data["train_x.npy"]), str(data["train_y.npy"])), steps=STEPS
    ):
        pass
    made.save(str(adapted))
    return job.records(journal), adapted.read_bytes()


@pytest.mark.parametrize("name, recipe, layers", RUNS + SLOW_RUNS)
def test_board_and_host_agree(name, recipe, layers, full, builds, new_board, tmp_path):
    if (name, recipe, layers) in SLOW_RUNS and not full:
        pytest.skip("with MICROZO_FULL=1")
    model = model_file(name, tmp_path)
    data = data_files(name, tmp_path)
    image = romfs_image.make({"model.safetensors": model.read_bytes()})
    package, _ = push.plan_files(session.BOARD, [])
    board = new_board(fs={**dict(package), **data}, romfs=image)
    run = session.run(board, recipe, lambda line: None, steps=STEPS, model=ON_ROM, layers=layers)
    (tmp_path / "board.journal").write_bytes(run.journal)
    records, adapted = on_host(model, data, recipe, layers, tmp_path)
    assert job.records(tmp_path / "board.journal") == records
    assert run.adapted == adapted
    planned = ramplan.predict(model, recipe, layers, SAMPLES, romfs=True)
    assert planned.fits and run.ram_peak <= run.ram_limit
    assert job.near(planned, run.ram_peak), (planned, run.ram_peak)


@pytest.fixture
def resnet(builds, new_board, tmp_path):
    """(a board that has loaded ResNet-8 from ROMFS as `model`, the file)"""
    model = model_file(RESNET, tmp_path)
    image = romfs_image.make({"model.safetensors": model.read_bytes()})
    package, _ = push.plan_files(session.BOARD, [])
    board = new_board(fs=dict(package), romfs=image)
    board.exec(f"import microzo; model = microzo.load({ON_ROM!r})", timeout=60)
    return board, model


def test_the_board_lays_out_the_arena_as_the_host(resnet):
    """All run-time words of the plan, for inference and for passes from the middle."""
    board, file = resnet
    model = microzo.load(str(file))
    for first in (0, 4, 10):
        model.relayout(first)
        text = board.exec(f"model.relayout({first}); print(list(model.plan))", timeout=60)
        assert json.loads(text) == list(model.plan)


def test_the_board_refuses_what_the_plan_refuses(resnet):
    """All layers of ResNet-8 by spsa; and its tail through the larger of two convolutions."""
    board, model = resnet
    assert not ramplan.predict(model, "spsa", "all", SAMPLES, romfs=True).fits
    with pytest.raises(Exception, match="MemoryError"):
        board.exec(f"microzo.Trainer(model, 'spsa', layers='all').memory({SAMPLES})", timeout=60)
    told = board.exec(f"print(microzo.Trainer(model, 'tail').memory({SAMPLES}))", timeout=60)
    planned = ramplan.predict(model, "tail", samples=SAMPLES, romfs=True)
    for notes in (told, "\n".join(planned.notes)):
        assert "no tail of operator 9, which needs " in notes
        assert notes.rstrip().endswith("tail of operator 10 instead")


@pytest.mark.parametrize("recipe, layers", [("realign", "auto"), ("head", "auto"), ("spsa", [10])])
def test_resnet_gets_better(recipe, layers, full, tmp_path):
    """On images that were not trained on; over the C kernels of the host."""
    if recipe != "realign" and not full:
        pytest.skip("with MICROZO_FULL=1")
    model = microzo.load(str(model_file(RESNET, tmp_path)))
    _, x, y = shared(RESNET)
    test = microzo.ArrayData(x[1000:1300].tobytes(), y[1000:1300].tobytes())
    before = float(model.evaluate(test))
    trainer = microzo.Trainer(model, recipe, layers=layers)
    for _ in trainer.run(microzo.ArrayData(x[:128].tobytes(), y[:128].tobytes())):
        pass
    assert float(model.evaluate(test)) > before + (0.05 if recipe != "spsa" else 0)


@pytest.mark.parametrize("name", [RESNET, KEYWORDS])
def test_the_arena_is_as_small_as_lifetimes_allow(name, tmp_path):
    """And the largest sum of live tensors is a convolution's, so that running in place would save
    nothing."""
    plan = microzo.load(str(model_file(name, tmp_path))).plan
    size, begin, end, pinned = planner.lifetimes(plan)
    live = [
        sum(n for t, n in enumerate(size) if t in pinned or begin[t] <= op <= end[t])
        for op in range(plan[L.N_OPS])
    ]
    planner.layout(plan)
    assert max(live) <= plan[L.LOGITS_OFF] < max(live) + 4 * len(size)
    kinds = [plan[L.op_base(op) + L.KIND] for op, n in enumerate(live) if n == max(live)]
    assert L.CONV in kinds
