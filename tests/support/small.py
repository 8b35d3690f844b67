"""A small network and data on which every recipe has something to gain."""

import functools
from array import array

import numpy as np
import pytest

import microzo
from microzo.data import draw as sampling
from microzo.journal.file import Reader
from microzo.search.trial import trial
from microzo.train.start import Request
from microzo_host.model import file as modelfile
from microzo_host.model import quantize
from microzo_host.model.network import Layer, Network, forward

# (label, recipe, changes of its last stage, layers) that every interpreter runs with the same bits
CASES = [(name, name, {}, "auto") for name in (
    "realign refilter head tail spsa elastic entropy qzo-ff zoqo scales node channel pmt "
    "forward_only default"
).split()] + [
    ("mask", "spsa", {"mask": "random", "one_in": 4, "factors": "kernel", "guard": ""}, "auto"),
    ("large", "spsa", {"mask": "large", "direction": "gauss", "round": "feedback", "guard": ""},
     "auto"),
    ("mask-channel", "elastic", {"mask": "channel", "one_in": 2, "guard": ""}, "auto"),
    ("guided", "spsa", {"guided": 1, "sharp": 4, "factors": "qas", "round": "stochastic",
                        "guard": ""}, "auto"),
    ("free", "entropy", {"guard": "", "stats": 40}, "auto"),
    ("share", "spsa", {"share": 1, "guard": ""}, "auto"),
    ("share-dense", "spsa", {"share": 1, "guard": ""}, [4]),  # products of the dense layer stay
    ("sides-dense", "spsa", {"antithetic": 0, "wide": 1, "guard": ""}, [4]),
    ("model-wise", "node", {"model_wise": 1, "norm_scaling": "root", "guard": ""}, "auto"),
]  # fmt: skip
# Over the oracle or after many interruptions these take seconds.
LONG = ("channel", "node")
SHAPE = (12, 12, 1)
CLASSES = 4


@functools.cache
def network(seed=3):
    """conv, depthwise, pointwise, global pool, dense; random weights, logits of equal mean and
    spread."""
    rng = np.random.Generator(np.random.PCG64(seed))

    def w(*shape):
        return (rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)

    layers = [
        Layer("conv", "stem", (0,), w(6, 3, 3, 1), np.zeros(6, np.float32), stride=(2, 2),
              pads=(0, 1, 0, 1), activation="relu"),
        Layer("depthwise", "dw", (1,), w(6, 3, 3, 1), np.zeros(6, np.float32),
              pads=(1, 1, 1, 1), activation="relu"),
        Layer("conv", "pw", (2,), w(8, 1, 1, 6), np.zeros(8, np.float32), activation="relu"),
        Layer("globalpool", "pool", (3,)),
        Layer("dense", "head", (4,), w(CLASSES, 1, 1, 8), np.zeros(CLASSES, np.float32)),
    ]  # fmt: skip
    net = Network(SHAPE, layers, "small")
    logits = forward(net, images(200, 5) / 255)[-1].reshape(200, CLASSES)
    head = layers[-1]
    head.weight *= (4 / logits.std(0)).astype(np.float32)[:, None, None, None]
    head.bias -= 4 * logits.mean(0) / logits.std(0)
    return net


def images(n, seed):
    """Smooth random images, uint8."""
    rng = np.random.Generator(np.random.PCG64(seed))
    coarse = rng.integers(0, 256, (n, 4, 4))
    return np.kron(coarse, np.ones((1, 3, 3), int)).astype(np.uint8)[..., None]


def write_model(path):
    """The quantized network as a model file."""
    modelfile.write(path, quantize.quantize(network(), images(200, 5)))
    return str(path)


def arrays(model_path, n=60, seed=7):
    """(shifted images, labels): the labels are what the network says of the images before the
    shift."""
    model = microzo.load(model_path)
    clean = images(n, seed)
    labels = np.array([model.predict(image.tobytes()) for image in clean], np.uint8)
    return (clean // 3 + 90).astype(np.uint8), labels


def write_data(folder, model_path, n=60, seed=7):
    """x.npy and y.npy in `folder`."""
    x, y = arrays(model_path, n, seed)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y)
    return str(folder / "x.npy"), str(folder / "y.npy")


def marked(names):
    """The names of recipes as parameters of a test; the LONG ones are `slow`."""
    return [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in names]


def short(name, samples=40):
    """A recipe of few steps, for tests."""
    made = microzo.recipe(name)
    made["samples"] = samples
    for stage in made["stages"]:
        if "antithetic" in stage:
            stage.update(steps=6, probes=3, samples=2)
        elif stage["kind"] in ("head", "tail", "node"):
            stage.update(epochs=2, batch=8)
    return made


def train(model, data, recipe, **options):
    """Runs a recipe to its end; the trainer."""
    trainer = microzo.Trainer(model, recipe, **options)
    for _ in trainer.run(data):
        pass
    return trainer


def states(kernels, with_kernels, folder, model_path, data, recipe):
    """The state that a recipe leaves over each of the kernel modules; its journal replays to it
    without the data."""
    for module in kernels:
        with_kernels(module)
        model, path = microzo.load(model_path), str(folder / module.__name__)
        train(model, data, recipe, journal=path)
        copy = microzo.load(model_path)
        assert microzo.replay(copy, path) is True
        assert bytes(copy.state) == bytes(model.state)
        yield bytes(model.state)


def replays_with_its_data_alone(folder, model_path, data, recipe):
    """Asserts that a journal leads to the same state with the data, and is refused without."""
    model, path = microzo.load(model_path), str(folder / "run")
    train(model, data, recipe, journal=path)
    copy = microzo.load(model_path)
    assert microzo.replay(copy, path, data) is True
    assert bytes(copy.state) == bytes(model.state)
    with pytest.raises(ValueError, match="same data"):
        microzo.replay(microzo.load(model_path), path)


def records(path, *kinds):
    """The records of a journal that are of these kinds, or all."""
    reader, chosen = Reader(microzo.kernels(), path), []
    while (rec := reader.next()) is not None:
        if not kinds or rec[0] in kinds:
            chosen.append(rec)
    reader.close()
    return chosen


def ends(path):
    """Offsets behind the records of a journal."""
    reader, offsets = Reader(microzo.kernels(), path), []
    while reader.next() is not None:
        offsets.append(reader.end)
    reader.close()
    return offsets


def draw(model, data, samples, seed):
    """Indices of the samples of a run, in their order."""
    buffer = bytearray(model.sample_len)
    return sampling.draw(model.k, data, samples, model.classes, seed, buffer)[0]


def begun(model, data, recipe, layers="auto", number=0):
    """An Engine whose stage `number` has begun, without a step."""
    request = Request(recipe, layers, 1, 0, None, None, 1, 25)
    engine = trial(model, request, data)
    engine.begin_stage(number)
    return engine


def state_crc(model):
    return model.k.crc32(model.state, 0, len(model.state))


def losses(model, data):
    """Sum of the losses of the first 4 samples, Q12."""
    total, sample = 0, bytearray(model.sample_len)
    for i in range(4):
        label = data.read_into(i, sample)
        model.predict(sample)
        total += model.k.loss(model.plan, model.arena, label, array("i"))
    return total
