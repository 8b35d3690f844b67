"""microzo: trains a quantized network on the board it runs on, with forward passes and integers.

model = microzo.load("digits.safetensors")
trainer = microzo.Trainer(model, recipe="default")
for step in trainer.run(microzo.Dataset("x.npy", "y.npy")):
    print(step)
"""

import sys

__version__ = "0.1.0"

_HOMES = {
    "Dataset": "data.sources",
    "ArrayData": "data.in_memory",
    "Trainer": "train.trainer",
    "resume": "train.trainer",
    "replay": "train.replay",
    "use": "kernel.choice",
    "kernels": "kernel.choice",
}


def _module(name, attribute):
    """Imports microzo.name; what importing leaves behind makes no holes in a board's heap."""
    from .board.memory import Compact

    with Compact():
        return __import__("microzo." + name, None, None, (attribute,))


def forget(name):
    """A board lets go of the code of microzo.name; it is imported again when next asked for."""
    full = "microzo." + name
    if sys.implementation.name != "cpython" and full in sys.modules:
        del sys.modules[full]
        parent, _, leaf = full.rpartition(".")
        if parent in sys.modules and hasattr(sys.modules[parent], leaf):
            delattr(sys.modules[parent], leaf)


def leave(package):
    """forget for all modules of a package: a phase of the run is over."""
    for name in list(sys.modules):
        if name.startswith("microzo." + package + "."):
            forget(name[len("microzo.") :])


def load(path):
    """The Model in a .safetensors file; see net/load.py."""
    try:
        return _module("net.load", "load").load(path)
    finally:
        forget("net.load")
        forget("kernel.choice")


def recipe(name):
    """A fresh copy of the recipe of that name, a dict to change and to print; see
    recipes/names.py."""
    try:
        return _module("recipes.names", "recipe").recipe(name)
    finally:
        leave("recipes")


def __getattr__(name):
    # modules are imported when first asked for: code takes RAM on a board
    home = _HOMES.get(name)
    if home is None:
        names = ", ".join(sorted(list(_HOMES) + ["load", "recipe"]))
        raise AttributeError("microzo has no %s; it has %s" % (name, names))
    value = getattr(_module(home, name), name)
    globals()[name] = value
    return value
