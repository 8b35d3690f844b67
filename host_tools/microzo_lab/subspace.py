"""The open problem's experiment: search in a few directions that the host has learned before.

`python -m microzo_lab subspace SHIFT...` (CIFAR-10, ResNet-8, severity 5). On the host
back-propagation of every convolution's scale and shift, after statistics were adapted, is run for
simulated shifts (the TUNING corruptions, severities 3 and 5); the singular vectors of what it
changed are the directions. On the target shift the network is realigned (integer), then antithetic
probes search the directions' coordinates with labelled samples: forward passes only, a state of a
few numbers. The forwards are the board's; coordinates and their Adam step are floating point on
the host: a study, no recipe. ``--random``: random directions of the same lengths, the control.
Writes build/study/subspace.json: accuracy at several numbers of forward passes.
"""

import json
import pathlib
import tempfile

import click
import numpy as np

import microzo
from microzo.net import words as L
from microzo_host.data import colour_corruptions
from microzo_host.simulation import jobs, networks, recipes

from . import accuracy, bp, floatnet, plot

DATA = "cifar10"
SAMPLES, TUNE_SAMPLES, TEST_IMAGES = 1000, 400, 500
EPOCHS, RATE = 5, 8e-3  # of the host's back-propagation
PROBES, SHARE = 8, 8  # probes a step, samples a probe; both sides: 128 forwards a step
RADIUS, STEP = 0.15, 0.06  # of a coordinate; 1 is the mean length of what the host changed
MARKS = (1024, 2560, 4992, 9984)  # forwards at which the accuracy is taken
CLIP = 2 * 4096  # of a difference of losses, Q12 nats


def directions(folder):
    """float (k, 2 C): rows are orthogonal directions of (log scale, shift / deviation) of all
    convolutions' channels, each as long as the changes are along it. Kept in ``folder``."""
    path = pathlib.Path(folder) / "directions.npy"
    if not path.is_file():
        changes = [
            _change(name, severity) for name, _ in colour_corruptions.TUNING for severity in (3, 5)
        ]
        _, lengths, rows = np.linalg.svd(np.array(changes), full_matrices=False)
        np.save(path, rows * (lengths / np.sqrt(len(changes)))[:, None])
    return np.load(path)


def _change(name, severity):
    job = jobs.Job(name, severity, 7, "bp", TEST_IMAGES, DATA, TUNE_SAMPLES)
    net = floatnet.of_data(DATA)
    samples = jobs.adaptation(job, TUNE_SAMPLES)
    tuned = bp.finetune(net, *samples, mode="bn_only", epochs=EPOCHS, rate=RATE)
    norms = [(a.bn, b.bn) for a, b in zip(net.layers, tuned.layers, strict=True) if a.bn]
    scale = [np.log(np.maximum(new.gamma / old.gamma, 0.1)) for old, new in norms]
    shift = [(new.beta - old.beta) / old.gamma for old, new in norms]
    return np.concatenate(scale + shift)


class Space:
    """Bias, multiplier and shift of a realigned model as a function of coordinates."""

    def __init__(self, model, ops, rows):
        """``ops``: the realigned operators; ``rows``: float (k, 2 C) of directions()."""
        self._model, self._ops, self._rows = model, ops, rows
        clean = _statistics(model, ops)
        self._base = [_values(model, op) for op in ops]
        self._clean = clean
        self._sizes = [len(mean) for mean, _ in clean]

    def place(self, at):
        """Write the values at coordinates ``at`` (k,) into the model's state."""
        change = at @ self._rows
        half, model = sum(self._sizes), self._model
        begin = 0
        for op, (bias, mults, shifts), (mean, deviation) in zip(
            self._ops, self._base, self._clean, strict=True
        ):
            part = slice(begin, begin + len(bias))
            gain, move = np.exp(change[part]), change[half:][part]
            begin += len(bias)
            # the output's clean mean stays where it was, then moves by `move` deviations
            real = np.ldexp(mults.astype(float), shifts)
            clean_unit = self._unit(op)
            bias_now = bias + clean_unit / (real * gain) * (mean * (1 - gain) + move * deviation)
            mantissa, exponent = np.frexp(real * gain)
            limit = model.plan[L.op_base(op) + L.B_MAX]
            values = np.concatenate([
                np.clip(np.rint(bias_now), -limit, limit),
                np.clip(np.rint(np.ldexp(mantissa, 31)), 1 << 30, (1 << 31) - 1),
                np.clip(exponent - 31, -31, 30),
            ])  # fmt: skip
            model.k.assign(model.plan, model.state, op, values.astype(np.int32))

    def _unit(self, op):
        """Of the file's multipliers, as ``real`` above: what clean statistics are scaled by."""
        o = L.op_base(op)
        count, blob = self._model.plan[o + L.OUT_C], bytes(self._model.blob)
        mults = np.frombuffer(blob, np.int32, count, self._model.plan[o + L.M_OFF])
        shifts = np.frombuffer(blob, np.int8, count, self._model.plan[o + L.S_OFF])
        return np.ldexp(mults.astype(float), shifts.astype(int))


def _statistics(model, ops):
    """(mean, deviation) of the clean accumulators of every operator."""
    found = []
    for op in ops:
        count, at = (model.plan[L.op_base(op) + w] for w in (L.OUT_C, L.STAT_OFF))
        both = np.frombuffer(bytes(model.blob), np.int32, 2 * count, at).astype(float)
        found.append((both[:count], both[count:] / 16))
    return found


def _values(model, op):
    """(bias, mult, shift) of an operator in the model's state, int64 each."""
    o, state = L.op_base(op), bytes(model.state)
    count, bias_at, at = (model.plan[o + w] for w in (L.OUT_C, L.BIAS_OFF, L.MS_OFF))
    kinds = (np.int32, bias_at), (np.int32, at), (np.int8, at + 4 * count)
    return [np.frombuffer(state, kind, count, where).astype(int) for kind, where in kinds]


def losses(model, images, labels, index):
    """Loss (Q12) of each chosen sample."""
    error = np.zeros(0, np.int32)
    found = []
    for i in index:
        model.predict(images[i].tobytes())
        found.append(model.k.loss(model.plan, model.arena, int(labels[i]), error))
    return np.array(found)


def search(space, model, images, labels, count, seed, marks, report):
    """Antithetic probes of the coordinates, Adam with a cosine rate; report(forwards) at marks."""
    rng = np.random.Generator(np.random.PCG64(seed))
    at, first, second = np.zeros(count), np.zeros(count), np.zeros(count)
    each = 2 * PROBES * SHARE
    steps = marks[-1] // each
    for step in range(1, steps + 1):
        gradient = np.zeros(count)
        index = rng.choice(len(images), PROBES * SHARE, replace=False).reshape(PROBES, SHARE)
        for chosen in index:
            signs = rng.choice((-1.0, 1.0), count)
            both = []
            for side in (1, -1):
                space.place(at + side * RADIUS * signs)
                both.append(losses(model, images, labels, chosen))
            change = np.clip(both[0] - both[1], -CLIP, CLIP).mean() / 4096
            gradient += change / (2 * RADIUS * PROBES) * signs
        first += 0.1 * (gradient - first)
        second += 0.02 * (gradient**2 - second)
        unbiased = first / (1 - 0.9**step), second / (1 - 0.98**step)
        rate = STEP * (1 + np.cos(np.pi * step / steps)) / 2
        at -= rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
        if step * each in marks:
            space.place(at)
            report(step * each)


def run(name, folder, seed=0, random=False, marks=MARKS):
    """Rows of one shift, as subspace.json has them; forwards 0: realign alone.

    ``with_head``: accuracy when the head is then trained by its exact gradient; at both ends.
    """
    with tempfile.TemporaryDirectory() as temporary:  # a model is saved from the file it came from
        return _run(name, folder, seed, random, marks, pathlib.Path(temporary))


def _run(name, folder, seed, random, marks, temporary):
    job = jobs.Job(name, 5, seed, "subspace", TEST_IMAGES, DATA, SAMPLES)
    images, labels = jobs.adaptation(job, SAMPLES)
    test = jobs.test_of(job)
    (temporary / "model.safetensors").write_bytes(networks.model_bytes(DATA))
    model = microzo.load(str(temporary / "model.safetensors"))
    recipe = recipes.settings(microzo.recipe("realign"), ["samples=256", "realign.guard="])
    trainer = microzo.Trainer(model, recipe=recipe, seed=seed)
    for _ in trainer.run(microzo.ArrayData(images, labels)):
        pass
    model.relayout(0)
    rows = directions(folder)
    if random:
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.random.Generator(np.random.PCG64(1)).standard_normal(rows.shape)
        rows *= length / np.linalg.norm(rows, axis=1, keepdims=True)
    space = Space(model, trainer.program["stages"][0]["ops"], rows)
    found = []

    def report(forwards):
        right = jobs.predictions(model, test[0]) == test[1]
        ends = forwards in (0, marks[-1])
        headed = _with_head(model, images, labels, test, seed) if ends else None
        found.append({
            "shift": name, "seed": seed, "directions": "random" if random else "learned",
            "count": len(rows), "forwards": forwards, "accuracy": 100 * float(right.mean()),
            "with_head": headed,
        })  # fmt: skip
        print(found[-1], flush=True)

    report(0)
    search(space, model, images, labels, len(rows), seed, marks, report)
    return found


def _with_head(model, images, labels, test, seed):
    """Accuracy of a copy of the model after the recipe `head`."""
    with tempfile.TemporaryDirectory() as temporary:
        path = str(pathlib.Path(temporary, "model.safetensors"))
        model.save(path)
        copy = microzo.load(path)
    recipe = recipes.settings(microzo.recipe("head"), [f"samples={SAMPLES}", "head.guard="])
    trainer = microzo.Trainer(copy, recipe=recipe, seed=seed)
    for _ in trainer.run(microzo.ArrayData(images, labels)):
        pass
    return 100 * float((jobs.predictions(copy, test[0]) == test[1]).mean())


def frontier(rows, path):
    """Draws an SVG of the learned directions: mean accuracy against forward passes."""
    learned = [r for r in rows if r["directions"] == "learned"]
    points, levels = [], []
    for count in sorted({r["forwards"] for r in learned}):
        mean = float(np.mean([r["accuracy"] for r in learned if r["forwards"] == count]))
        if count:
            points.append((f"{count}", count, mean))
        else:
            levels.append(("realign", mean))
    shifts = ", ".join(sorted({r["shift"] for r in learned}))
    title = f"Search in 8 learned directions: {shifts}"
    plot.scatter(path, title, "forwards", points, levels)


@click.command("subspace")
@click.argument("shifts", nargs=-1, type=click.Choice(colour_corruptions.NAMES))
@click.option("--plot", "picture", type=click.Path(dir_okay=False, path_type=pathlib.Path),
              help="An SVG of all that was run so far.")  # fmt: skip
@click.option("--random", is_flag=True, help="Random directions, the control.")
@click.option("--seed", type=int, default=0, show_default=True)
def command(shifts, picture, random, seed):
    """Run SHIFTS and add their rows to build/study/subspace.json."""
    folder = accuracy.BUILD / "study"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "subspace.json"
    for name in shifts:
        rows = run(name, folder, seed, random)
        again = [(r["shift"], r["seed"], r["directions"]) for r in rows]
        before = json.loads(file.read_text()) if file.is_file() else []
        before = [r for r in before if (r["shift"], r["seed"], r["directions"]) not in again]
        file.write_text(json.dumps(before + rows, indent=0) + "\n")
    if picture:
        frontier(json.loads(file.read_text()), picture)
