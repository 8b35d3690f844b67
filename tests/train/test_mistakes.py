"""What a student gets wrong, on CPython and on MicroPython: one sentence that names the cure."""

import json
import re

import numpy as np
import pytest
import small

import microzo
from microzo.board import nearest
from microzo_host.board import emulator, push
from microzo_host.model import file as modelfile
from microzo_host.model import quantize
from microzo_host.model.network import Layer, Network

X = np.arange(40 * 144, dtype=np.uint32).reshape(40, 12, 12).astype(np.uint8)
Y = (np.arange(40) % 4).astype(np.uint8)

FILES = {
    "x.npy": X,
    "y.npy": Y,
    "float.npy": X / 255,
    "float_y.npy": Y.astype(float),
    "signed.npy": X.astype(np.int16),
    "chw.npy": X.reshape(40, 1, 144),
    "rgb.npy": np.repeat(X[..., None], 3, 3),
    "one.npy": X[0],
    "ones.npy": Y + 1,
    "negative.npy": Y.astype(np.int8) - 1,
    "onehot.npy": np.eye(4, dtype=np.uint8)[Y],
    "fewer.npy": Y[:30],
    "fortran.npy": np.asfortranarray(X.reshape(40, 144)),
    "none.npy": X[:0],
    "small.npy": X[:, :10, :10],
}

# (name, code, words of its sentence); model and the files above are there
MISTAKES = [
    ("file", "microzo.load('modle.safetensors')", "no such file.*correct its name.*push"),
    ("data-file", "microzo.Dataset('trian_x.npy')", "trian_x.npy.*no such file"),
    ("onnx", "open('net.onnx', 'wb').close(); microzo.load('net.onnx')", "microzo import"),
    ("npy-as-model", "microzo.load('x.npy')", r"microzo\.Dataset\(x, y\)"),
    ("floats", "microzo.Dataset('float.npy')", r"<f8: samples are uint8.*255 \* x"),
    ("float-labels", "microzo.Dataset('x.npy', 'float_y.npy')", r"y\.astype\('uint8'\)"),
    ("int16", "microzo.Dataset('signed.npy')", "i2 .*samples are uint8.*clip"),
    ("swapped", "microzo.Dataset('y.npy', 'x.npy')", "is it the file of labels"),
    ("one-hot", "microzo.Dataset('x.npy', 'onehot.npy')", r"argmax\(axis=1\)"),
    ("fewer", "microzo.Dataset('x.npy', 'fewer.npy')", "needs 40 labels: one label for each"),
    ("fortran", "microzo.Dataset('fortran.npy')", "ascontiguousarray"),
    ("empty", "microzo.Dataset('none.npy')", "has 0 samples"),
    ("array", "microzo.Dataset(bytearray(144))", r"microzo\.ArrayData\(x, y\)"),
    ("colours", "model.evaluate(microzo.Dataset('rgb.npy', 'y.npy'))", r"mean\(axis=3\)"),
    ("size", "model.evaluate(microzo.Dataset('small.npy', 'y.npy'))", "takes 12 x 12 x 1"),
    ("one", "model.evaluate(microzo.Dataset('one.npy'))", r"one sample, x\[None\]"),
    ("from-1", "run(microzo.Dataset('x.npy', 'ones.npy'))", "has label 4.*y - 1"),
    ("from-1-measured", "model.evaluate(microzo.Dataset('x.npy', 'ones.npy'))", "y - 1"),
    ("negative", "model.evaluate(microzo.Dataset('x.npy', 'negative.npy'))", "negative or huge"),
    ("unlabelled", "model.evaluate(microzo.Dataset('x.npy'))", "evaluation needs labels"),
    ("name-as-data", "run('x.npy')", "data is a microzo.Dataset"),
    ("two-arrays", "model.evaluate(microzo.Dataset('x.npy'), 'y.npy')", "takes a data source"),
    ("name-as-model", "microzo.Trainer('m.safetensors')", "takes what microzo.load gives"),
    ("recipe", "microzo.Trainer(model, 'defualt')", 'did you mean "default"'),
    ("recipe-kind", "microzo.Trainer(model, ['spsa'])", "a recipe is a dict"),
    ("recipe-key", "r = microzo.recipe('spsa'); r['sample'] = 3; microzo.Trainer(model, r)",
     'did you mean "samples"'),
    ("setting", "r = microzo.recipe('spsa'); r['stages'][0]['step'] = 3\n"
     "microzo.Trainer(model, r)",
     'did you mean "steps"'),
    ("keyword", "microzo.Trainer(model, sead=3)", 'no sead: did you mean "seed"'),
    ("keyword-resume", "microzo.resume(model, 'j', cache_flie='x')", 'did you mean "cache_file"'),
    ("steps", "microzo.Trainer(model).run(microzo.Dataset('x.npy'), steps=0)", r"steps is 1\.\."),
    ("seed", "microzo.Trainer(model, seed=-1)", r"seed is 0\.\."),
    ("layers", "microzo.Trainer(model, 'spsa', 'conv1')", 'layers is "auto", "all", "last1"'),
    ("layer", "microzo.Trainer(model, 'spsa', [99])", "operator 99 has nothing to train"),
    ("predict-text", "model.predict('x.npy')", "a sample is its raw bytes"),
    ("predict-none", "model.predict(None)", "a sample is its raw bytes"),
    ("predict-short", "model.predict(bytes(64))", r"has 144 bytes, not 64: 12 x 12 x 1"),
    ("predict-floats", "model.predict([0.5] * 144)", r"integers of 0\.\.255.*255 \* x"),
    ("predict-list", "model.predict([300] * 144)", r"integers of 0\.\.255"),
    ("step-label", "microzo.Trainer(model, 'spsa').step(bytes(144), '3')",
     r"label '3' is not one of the classes, integers 0\.\.3"),
    ("step-no-label", "microzo.Trainer(model, 'spsa').step(bytes(144))", "label None is not one"),
    ("step-floats", "microzo.Trainer(model, 'spsa').step([0.5] * 144, 1)", r"255 \* x"),
    ("words", "microzo.ArrayData(bytes(288), ['cat', 'dog'])", "labels are integers"),
    ("float-list", "microzo.ArrayData([0.5] * 288, [0, 1])", r"255 \* x"),
    ("replay", "journal(); microzo.replay(microzo.load('m.safetensors'), 'j')", "--data x.npy"),
    ("journal", "journal(); microzo.Trainer(model, journal='j')", r"microzo\.resume"),
    ("trained", "journal(); microzo.Trainer(trained[0])", r"model\.reset\(\)"),
]  # fmt: skip

BEFORE = """
import microzo
model = microzo.load("m.safetensors")
trained = []
def run(data):
    for step in microzo.Trainer(model, "head").run(data, steps=2):
        pass
def journal():
    try:
        import os
        os.remove("j")
    except OSError:
        pass
    other = microzo.load("m.safetensors")
    data = microzo.Dataset("x.npy", "y.npy")
    recipe = microzo.recipe("head")
    recipe["stages"][0]["guard"] = ""
    for step in microzo.Trainer(other, recipe, journal="j").run(data, steps=2):
        pass
    trained.append(other)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("mistakes")
    small.write_model(made / "m.safetensors")
    for name, array in FILES.items():
        np.save(made / name, array)
    return made


@pytest.mark.parametrize(
    ("code", "words"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES]
)
def test_on_cpython(code, words, folder, monkeypatch):
    monkeypatch.chdir(folder)
    scope = {}
    exec(BEFORE, scope)
    with pytest.raises((ValueError, TypeError, OSError), match=words) as raised:
        exec(code, scope)
    assert "\n" not in str(raised.value)


@pytest.fixture(scope="module")
def told(folder):
    """{name: what the unix port says}."""
    cases = json.dumps([m[:2] for m in MISTAKES])
    script = BEFORE + (
        "import json\n"
        f"for name, code in json.loads({cases!r}):\n"
        "    model.reset()\n"
        "    try:\n"
        "        exec(code, globals())\n"
        "        print(json.dumps([name, 'nothing']))\n"
        "    except (ValueError, TypeError, OSError) as e:\n"
        "        print(json.dumps([name, str(e)]))\n"
    )
    (folder / "script.py").write_text(script)
    unix = emulator.Unix(True, path=[push.ROOT / "device"])
    said = unix.run(folder / "script.py", cwd=folder)
    return dict(json.loads(line) for line in said.splitlines() if line.startswith("["))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), [(m[0], m[2]) for m in MISTAKES])
def test_on_micropython(name, words, told):
    assert re.search(words, told[name]), told[name]


@pytest.mark.parametrize("shape", [(12, 12), (12, 12, 1), (1, 12, 12, 1), (144,)])
def test_a_numpy_sample_is_taken(shape, folder):
    model = microzo.load(str(folder / "m.safetensors"))
    sample = X[3].reshape(shape)
    assert model.predict(sample) == model.predict(X[3].tobytes())
    assert model.predict(sample.ravel().tolist()) == model.predict(X[3].tobytes())
    assert microzo.Trainer(model, "spsa").step(sample, np.uint8(2)) >= 0


def test_values_that_are_not_meant_for_the_model(folder):
    """Pixels of 0..255 as floats or int32, where the model knows 0..1."""
    model = microzo.load(str(folder / "m.safetensors"))
    for sample in (X[3].astype(float), X[3].astype(np.int32)):
        with pytest.raises(ValueError, match="are outside of .* to 1.*raw bytes are uint8"):
            model.predict(sample)
    with pytest.raises(ValueError, match="outside of .* to 1"):
        microzo.Trainer(model, "head").run(microzo.ArrayData(X.astype(float), Y))


def test_channels_first(tmp_path):
    rng = np.random.default_rng(1)
    layers = [
        Layer("conv", "conv", (0,), rng.normal(0, 0.2, (4, 3, 3, 3)), np.zeros(4)),
        Layer("globalpool", "pool", (1,)),
        Layer("dense", "head", (2,), rng.normal(0, 0.2, (4, 1, 1, 4)), np.zeros(4)),
    ]
    x = rng.integers(0, 256, (20, 3, 8, 8)).astype(np.uint8)
    network = Network((8, 8, 3), layers, "colour")
    modelfile.write(
        tmp_path / "c.safetensors", quantize.quantize(network, x.transpose(0, 2, 3, 1))
    )
    model = microzo.load(str(tmp_path / "c.safetensors"))
    for use in (
        lambda: model.evaluate(microzo.ArrayData(x, np.zeros(20, int))),
        lambda: model.predict(x[0]),
    ):
        with pytest.raises(ValueError, match=r"transpose\(0, 2, 3, 1\)"):
            use()


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (X[:4], Y[:4], "4 samples of 4 classes are few.* take 32 or more"),
        (X, np.full(40, 2), "all 40 samples are of class 2"),
        (X, Y % 3, "no sample is of class 3"),
        (X * 0, Y, "the samples hold no value above 0: uint8"),
        (X * 0 + 7, Y, "every sample has one value everywhere"),
        (np.repeat(X[:1], 40, 0), Y, "the first samples are all the same"),
    ],
)
def test_warnings_of_samples(x, y, words, model, capsys):
    recipe = microzo.recipe("head")
    microzo.Trainer(model, recipe).run(microzo.ArrayData(x, y), steps=1)
    assert re.search("microzo: warning: " + words, capsys.readouterr().err)


def test_a_fallback_is_told_when_the_run_begins(model, data, capsys):
    smaller = microzo.recipe("default")
    smaller["stages"][2] = microzo.recipe("head")["stages"][0]
    needed = microzo.Trainer(model, smaller).memory(len(data)).total
    trainer = microzo.Trainer(model, "default", ram=needed)
    run = trainer.run(data, steps=1)
    (warning,) = capsys.readouterr().err.splitlines()
    assert warning == "microzo: warning: " + trainer.program["notes"][0]
    assert "no tail of operator" in warning and warning.endswith("head instead")
    next(run)
    assert capsys.readouterr().err == ""


def test_no_warning_where_there_is_none(model, data, capsys):
    microzo.Trainer(model, "head").run(data, steps=1)
    assert capsys.readouterr().err == ""


def test_nearest_name():
    names = ["steps", "seed", "samples"]
    assert nearest.near("setps", names) == "steps"
    assert nearest.near("sample", names) == "samples"
    assert nearest.near("learning_rate", names) is None
    assert nearest.meant("zzz", names) == "there are samples, seed, steps"


def test_every_step_is_an_object_of_its_own(model, data):
    steps = list(microzo.Trainer(model, "spsa").run(data, steps=5))
    assert [step.step for step in steps] == [1, 2, 3, 4, 5]
    assert len({step.loss for step in steps}) > 1


def test_accuracy_is_that_of_the_step(model, data):
    by_stage = {}
    for step in microzo.Trainer(model, small.short("default")).run(data):
        by_stage.setdefault(step.stage, step)
    assert by_stage["realign"].accuracy is None and " acc " not in str(by_stage["realign"])
    assert by_stage["tail"].accuracy is not None and " acc " in str(by_stage["tail"])


def test_an_outcome_says_on_what_it_was_measured(model, data):
    recipe = small.short("head")
    trained = small.train(model, data, recipe).outcomes()[0]
    assert "on its own 40 training samples: " in trained and "holdout" in trained
    model.reset()
    held = small.train(model, data, dict(recipe, holdout=20)).outcomes()[0]
    assert "held out 8 samples: " in held and " -> " in held
