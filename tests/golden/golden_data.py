"""Samples of the golden cases: integers of the counter-based generator, in .npy files that are
the same on every PC. Labels are what the untrained model says of the samples before a shift."""

import pathlib

import microzo

FOLDER = pathlib.Path(__file__).parent
# model: samples, (height, width, channels), rows and columns of a block of equal values
SETS = {
    "small": (60, (12, 12, 1), (3, 3)),
    "residual": (60, (12, 10, 2), (3, 2)),
    "colored": (60, (12, 10, 2), (3, 2)),
    "clamped": (40, (9, 8, 2), (3, 2)),
    "demo": (48, (28, 28, 1), (4, 4)),
}
MODELS = {name: FOLDER / "models" / f"{name}.safetensors" for name in SETS}
_SEED = 20240


def clean(name, i):
    """Sample i of a set: blocks of random bytes."""
    _, (height, width, channels), (rows, columns) = SETS[name]
    derive = microzo.kernels().derive
    line = width // columns * channels
    blocks = [derive(_SEED, i, j) & 255 for j in range(height // rows * line)]
    return bytes(
        blocks[y // rows * line + x // columns * channels + c]
        for y in range(height)
        for x in range(width)
        for c in range(channels)
    )


def npy(shape, raw):
    """A .npy file (version 1.0) of bytes."""
    shape = "(%s,)" % ", ".join(map(str, shape))
    head = "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }" % shape
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + raw


def write(folder):
    """NAME.x.npy, NAME.y.npy and NAME.safetensors of every set, in a folder."""
    for name, (count, shape, _) in SETS.items():
        model = microzo.load(str(MODELS[name]))
        samples = [clean(name, i) for i in range(count)]
        labels = bytes(model.predict(sample) for sample in samples)
        shifted = bytes(v // 3 + 90 for sample in samples for v in sample)
        path = pathlib.Path(folder, name)
        path.with_suffix(".x.npy").write_bytes(npy((count, *shape), shifted))
        path.with_suffix(".y.npy").write_bytes(npy((count,), labels))
        path.with_suffix(".safetensors").write_bytes(MODELS[name].read_bytes())
