"""microzo: trains a quantized network on the board it runs on, with forward passes and integers.

    model = microzo.load("digits.safetensors")
    trainer = microzo.Trainer(model, recipe="default")
    for step in trainer.run(microzo.Dataset("x.npy", "y.npy")):
        print(step)
"""

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


def __getattr__(name):
    # modules are imported when first asked for: code takes RAM on a board
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError("microzo has no %s; it has %s" % (name, ", ".join(sorted(_HOMES))))
    module = __import__("microzo." + home, None, None, (name,))
    value = getattr(module, name)
    globals()[name] = value
    return value
