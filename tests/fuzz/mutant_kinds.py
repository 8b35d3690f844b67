"""Files of every kind that are altered, their check sums repaired, and what reads them.

A class a kind: make(rng) -> bytes of a mutant, use(path) takes it as a user would.
"""

import json
import struct
import zlib
from pathlib import Path

import journal_mutants
import mutate
import small

import microzo
from microzo.net import words as L
from microzo.recipes.names import RECIPES
from microzo_host import recipefile
from microzo_host.model import checks, netfile
from microzo_host.model import file as modelfile

# Recipes of journals, and changes of their last stages.
JOURNALS = (
    ("forward_only", {}), ("default", {}), ("elastic", {}), ("pmt", {}), ("entropy", {}),
    ("head", {}),
    ("spsa", {"mask": "random", "factors": "kernel", "guided": 1, "round": "stochastic"}),
    ("spsa", {"by_layer": 1, "direction": "gauss", "guard": ""}), ("node", {"model_wise": 1}),
)  # fmt: skip
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "models"


class Kind:
    suffix = ""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.model = str(self.folder / "base.safetensors")
        if not Path(self.model).exists():
            small.write_model(self.model)
        self.x, self.y = small.write_data(self.folder, self.model)
        self.data = microzo.Dataset(self.x, self.y)
        self.raws = self.sources()


class Models(Kind):
    """Model files: half have altered plan words with right check sums, some an altered header."""

    suffix = ".safetensors"

    def sources(self):
        paths = [Path(self.model), *sorted(GOLDEN.glob("*.safetensors"))]
        return [path.read_bytes() for path in paths]

    def make(self, rng):
        raw = rng.choice(self.raws)
        if rng.random() < 0.15:
            return mutate.data(rng, raw)
        (length,) = struct.unpack_from("<Q", raw)
        header, body = json.loads(raw[8 : 8 + length]), bytearray(raw[8 + length :])
        plan = header["plan"]["data_offsets"][1]
        for _ in range(rng.choice((1, 1, 2, 3))):
            mutate.words(rng, body, 0, plan)
        if rng.random() < 0.2:
            mutate.words(rng, body, plan, len(body))
        repair(body, plan)
        if rng.random() < 0.2:
            header = mutate.tree(rng, header)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + bytes(body)

    def use(self, path):
        model = microzo.load(path)
        repr(model)
        try:
            self.train(model)
        except ValueError:  # what has nothing to train says so
            model.reset()
        sample = bytes(range(256)) * (model.sample_len // 256 + 1)
        before = model.predict(sample[: model.sample_len]), bytes(model.logits())
        saved = path + ".saved"
        model.save(saved)
        try:
            again = microzo.load(saved)
        except (ValueError, OSError) as error:
            raise AssertionError("what is saved is refused") from error
        assert (again.predict(sample[: model.sample_len]), bytes(again.logits())) == before

    def train(self, model):
        source = microzo.ArrayData(bytes(4 * model.sample_len), [0, 1, 0, 1])
        recipe = small.short("forward_only", samples=4)
        for stage in recipe["stages"]:
            stage["guard"] = ""
        for _ in microzo.Trainer(model, recipe, cache=0).run(source, steps=2):
            pass

    def use_on_host(self, path):
        modelfile.read(path)


def repair(body, plan):
    """The check sums of a model's tensors, plan first."""
    struct.pack_into("<I", body, 4 * L.BLOB_CRC, zlib.crc32(body[plan:]))
    struct.pack_into("<I", body, 4 * L.PLAN_CRC, 0)
    struct.pack_into("<I", body, 4 * L.PLAN_CRC, zlib.crc32(body[:plan]))


class Checkpoints(Kind):
    """Checkpoints of a run that was cut; many are forged: of the others none may change a bit."""

    def sources(self):
        journal = self.folder / "run"
        if not journal.exists():
            trainer = microzo.Trainer(
                microzo.load(self.model), small.short("tail", samples=16), journal=str(journal),
                checkpoint_every=2,
            )  # fmt: skip
            for _ in trainer.run(self.data, steps=4):
                pass
        self.journal, self.forged = journal.read_bytes(), False
        self.beside = {p.name[3:]: p.read_bytes() for p in self.folder.glob("run.*")}
        model = microzo.load(self.model)
        copy = self.folder / "whole"
        copy.write_bytes(self.journal)
        for _ in microzo.resume(model, str(copy)).run(self.data):
            pass
        self.state = bytes(model.state)
        return list(self.beside.values())

    def make(self, rng):
        raw = bytearray(rng.choice(self.raws))
        self.forged = rng.random() < 0.6
        if not self.forged:
            return mutate.data(rng, raw)
        for _ in range(rng.choice((1, 1, 2))):
            mutate.words(rng, raw, 0, 28)
        struct.pack_into("<I", raw, 28, zlib.crc32(raw[:28]))
        return bytes(raw)

    def use(self, path):
        for number, name in enumerate(self.beside):
            target = path + ".j" + name
            Path(target).write_bytes(Path(path).read_bytes() if number < 2 else self.beside[name])
        Path(path + ".j").write_bytes(self.journal)
        model = microzo.load(self.model)
        for _ in microzo.resume(model, path + ".j").run(self.data):
            pass
        assert self.forged or bytes(model.state) == self.state


class Journals(Kind):
    """Journals, replayed with and without the data, and resumed, with checkpoints beside some."""

    def sources(self):
        self.beside = {}
        for number, (name, changes) in enumerate(JOURNALS):
            path = self.folder / f"journal{number}"
            recipe = small.short(name, samples=16)
            recipe["stages"][-1].update(changes)
            trainer = microzo.Trainer(
                microzo.load(self.model), recipe, journal=str(path), checkpoint_every=2
            )
            for _ in trainer.run(self.data, steps=3):
                pass
            raw = path.read_bytes()
            self.beside[raw[:48]] = [
                (p.suffix, p.read_bytes()) for p in path.parent.glob(path.name + ".*")
            ]
        return [p.read_bytes() for p in sorted(self.folder.glob("journal?"))]

    def make(self, rng):
        return journal_mutants.mutant(rng, self.raws)

    def use(self, path):
        microzo.replay(microzo.load(self.model), path)

    def use_with_data(self, path):
        microzo.replay(microzo.load(self.model), path, self.data)

    def use_to_go_on(self, path):
        raw = Path(path).read_bytes()
        for suffix, content in self.beside.get(raw[:48], ()):
            Path(path + suffix).write_bytes(content)
        trainer = microzo.resume(microzo.load(self.model), path)
        for _ in zip(range(3), trainer.run(self.data)):
            pass
        repr(trainer)


class Arrays(Kind):
    """.npy files, as samples and as labels, on a board and here."""

    suffix = ".npy"

    def sources(self):
        return [Path(self.x).read_bytes(), Path(self.y).read_bytes()]

    def make(self, rng):
        raw = bytearray(rng.choice(self.raws))
        if rng.random() < 0.5:
            return mutate.data(rng, raw[:200]) + bytes(raw[200:])
        text = raw[10:128].decode("latin1")
        old, new = rng.choice((
            ("(60", "(%d" % rng.choice(mutate.EXTREMES)), ("(60", "(9" * rng.randrange(200)),
            ("|u1", rng.choice("|O |V0 <i8 >u2 <f4 |b1 <U9 <c8 |S0 <m8 ['a']".split())),
            ("False", rng.choice(("True", "3", "None"))), (",)", ", 12, 12, 1, 0)"),
            ("'shape'", rng.choice(("'shap'", "u'shape'", "'shape\0'"))), ("12", "12" * 9),
        ))  # fmt: skip
        text = text.replace(old, new).encode("latin1")[:60000]
        return bytes(raw[:8]) + struct.pack("<H", len(text)) + text + bytes(raw[128:])

    def use(self, path, y=None):
        source = microzo.Dataset(path, y or self.y)
        try:
            microzo.load(self.model).evaluate(source)
        finally:
            source.close()

    def use_as_labels(self, path):
        self.use(self.x, path)

    def use_on_host(self, path):
        checks.data(path, self.y, modelfile.read(self.model))


class Recipes(Kind):
    """Recipes in .json files."""

    suffix = ".json"

    def sources(self):
        return [json.dumps(small.short(name)) for name in RECIPES]

    def make(self, rng):
        text = rng.choice(self.raws)
        if rng.random() < 0.1:
            return mutate.data(rng, text.encode())
        changed = mutate.tree(rng, json.loads(text))
        if rng.random() < 0.03:
            return (json.dumps(changed).replace("[", "[" * rng.choice((2, 5000)), 1)).encode()
        return json.dumps(changed).encode()

    def use(self, path):
        recipe = recipefile.read(path)
        steps = microzo.Trainer(microzo.load(self.model), recipe, cache=0).run(self.data, steps=2)
        for _, _ in zip(range(3), steps):
            pass


class FloatNetworks(Kind):
    """Float networks of `microzo quantize`: .npz."""

    suffix = ".npz"

    def sources(self):
        path = self.folder / "net.npz"
        netfile.write(path, small.network())
        return [path.read_bytes()]

    def make(self, rng):
        return mutate.data(rng, rng.choice(self.raws))

    def use(self, path):
        netfile.read(path)


class TfLite(Kind):
    suffix = ".tflite"

    def sources(self):
        from tflite_graphs import Graphs

        g = Graphs(11, [1, 8, 7, 3])
        g.pad((1, 1, 1, 1))
        g.conv(4, (3, 3), (2, 1), 1, 1)
        first = g.x
        g.depthwise(1, (3, 3))
        g.binary("ADD", first, 1)
        g.mean()
        g.reshape([1, 4])
        g.dense(5)
        return [g.pack()]

    make = FloatNetworks.make

    def use(self, path):
        from microzo_host import importers

        modelfile.pack(importers.import_model(path))


class Onnx(TfLite):
    """Of a float file nothing can be made without samples: it is read and converted."""

    suffix = ".onnx"

    def sources(self):
        from onnx_build import Builder

        b = Builder((2, 8, 8))
        b.conv(4, 2, pads=[1, 1, 1, 1])
        b.norm(4)
        b.op("Relu")
        b.conv(4, 4, group=4, strides=[2, 2])
        b.op("GlobalAveragePool")
        b.op("Flatten")
        b.dense(3, 4)
        return [b.pack()]

    def use(self, path):
        from microzo_host.importers import onnx_network

        onnx_network.import_network(path).net.fold()


KINDS = {
    "models": Models, "checkpoints": Checkpoints, "journals": Journals, "npy": Arrays,
    "recipes": Recipes, "npz": FloatNetworks, "tflite": TfLite, "onnx": Onnx,
}  # fmt: skip
