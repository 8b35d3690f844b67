"""microzo: trains a quantized network on the board it runs on, with forward passes and integers.

model = microzo.load("digits.safetensors")
trainer = microzo.Trainer(model, recipe="default")
for step in trainer.run(microzo.Dataset("x.npy", "y.npy")):
    print(step)
"""

import gc

__version__ = "0.1.0"

_HOMES = {
    "load": "loader",
    "Dataset": "dataset",
    "ArrayData": "dataset",
    "Trainer": "trainer",
    "resume": "trainer",
    "replay": "replayer",
    "recipe": "recipes",
    "use": "backend",
    "kernels": "backend",
}


def _module(name, wanted):
    """Imports microzo.name so that what importing leaves behind makes no holes in a board's heap."""
    if not hasattr(gc, "threshold"):
        return __import__("microzo." + name, None, None, (wanted,))
    before = gc.threshold()
    gc.collect()
    gc.threshold(2048)
    try:
        return __import__("microzo." + name, None, None, (wanted,))
    finally:
        gc.threshold(before)


def __getattr__(name):
    # modules are imported when first asked for: code takes RAM on a board
    home = _HOMES.get(name)
    try:
        if home is None and not name.startswith("_"):
            return _module(name, "")  # MicroPython's `from . import name` comes here
    except ImportError:
        pass
    if home is None:
        raise AttributeError("microzo has no %s; it has %s" % (name, ", ".join(sorted(_HOMES))))
    value = getattr(_module(home, name), name)
    globals()[name] = value
    return value
