"""microzo: trains a quantized network on the board it runs on, with forward passes and integers.

model = microzo.load("digits.safetensors")
trainer = microzo.Trainer(model, recipe="default")
for step in trainer.run(microzo.Dataset("x.npy", "y.npy")):
    print(step)
"""

import sys

__version__ = "0.1.0"


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


def leave(package, *others):
    """forget for all modules of a package but the others: a phase of the run is over."""
    for name in list(sys.modules):
        name = name[len("microzo.") :] if name.startswith("microzo." + package + ".") else ""
        if name and name not in others:
            forget(name)


def misfit(name, *details):
    """What a function of net/misfit.py makes of samples or labels that do not fit."""
    try:
        return getattr(_module("net.misfit", name), name)(*details)
    finally:
        forget("net.misfit")


class _Name:
    """A public name on a board, where code takes RAM: it imports its module when it is called. To
    look at it (help, dir, Tab, which ask for every name there is) imports nothing."""

    def __init__(self, line):
        self._line = line

    def __repr__(self):
        return self._line.split(" ", 2)[2]

    def target(self):
        name, home, _ = self._line.split(" ", 2)
        return getattr(_module(home, name), name)

    def __call__(self, *args, **options):
        try:
            return self.target()(*args, **options)
        finally:
            forget("net.load")
            forget("kernel.choice")
            leave("recipes")


# Name, its module, and what help(microzo) says of it on a board; CPython has docstrings.
for _line in (
    "load net.load the model in a .safetensors file",
    "Dataset data.sources samples and labels in .npy files",
    "ArrayData data.in_memory samples and labels in RAM",
    "Recorder data.recorder keeps samples from a sensor, in files or in RAM",
    "Trainer train.trainer trains a model, step by step",
    "recipe recipes.names a recipe, a dict to change",
    "resume train.trainer goes on with a journal's run",
    "replay train.replay a trained model from a journal",
    "kernels kernel.choice the kernels in use",
    "use kernel.choice takes other kernels",
):
    # setattr makes a name known to Tab
    setattr(sys.modules[__name__], _line.split()[0], _Name(_line))

if sys.implementation.name == "cpython":
    __all__ = []
    for _line in sorted(globals()):
        if isinstance(globals()[_line], _Name):
            globals()[_line] = globals()[_line].target()
            __all__.append(_line)
