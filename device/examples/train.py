"""Adapts a model to the data of this board, shows progress, saves the result. Run it from a PC:

    mpremote run device/examples/train.py
    mpremote exec "recipe = 'forward_only'; steps = 50" run device/examples/train.py

It needs model.safetensors, train_x.npy and train_y.npy; with test_x.npy and test_y.npy it
measures before and after. Settings below are replaced by variables of the same name (as above)
and by the keys of settings.json. A run that was interrupted goes on where it stopped.
"""

import gc
import json

import microzo
from microzo.board import files

SETTINGS = {
    "model": "model.safetensors",
    "train": ("train_x.npy", "train_y.npy"),
    "test": ("test_x.npy", "test_y.npy"),
    "recipe": "default",
    "layers": "auto",
    "steps": None,
    "seed": 1,
    "journal": "train.journal",
    "cache_file": "prefix.tmp",  # saves most of the time of tail; None: no such file
    "adapted": "adapted.safetensors",
}


def read_settings(variables):
    made = dict(SETTINGS)
    if files.exists("settings.json"):
        with open("settings.json") as f:
            made.update(json.load(f))
    for key in made:
        if key in variables:
            made[key] = variables[key]
    return made


def measure(name, model, test):
    if test is None:
        return None
    print("%s: measuring %d samples ..." % (name, len(test)))
    found = model.evaluate(test)
    print("%s %s" % (name, found))
    return found


def heap():
    """Bytes in use after a collection; 0 on CPython, which cannot tell."""
    gc.collect()
    return gc.mem_alloc() if hasattr(gc, "mem_alloc") else 0


def ram(peak):
    """RAM figures for the result: bytes at their peak, and the limit, where the board tells."""
    try:
        import board

        total, static, stack, _ = board.ram()
        return {
            "heap_peak": peak,
            "static": static,
            "stack": stack,
            "ram_peak": static + stack + peak,
            "ram_limit": total,
        }
    except (ImportError, AttributeError):
        return {"heap_peak": peak}


def main(settings):
    model = microzo.load(settings["model"])
    print(model)
    train = microzo.Dataset(*settings["train"])
    test = microzo.Dataset(*settings["test"]) if files.exists(settings["test"][0]) else None
    before = measure("before", model, test)
    journal = settings["journal"]
    if journal and files.exists(journal):
        print("continuing %s; delete it to start anew" % journal)
        trainer = microzo.resume(model, journal, cache_file=settings["cache_file"])
    else:
        trainer = microzo.Trainer(
            model,
            settings["recipe"],
            settings["layers"],
            seed=settings["seed"],
            journal=journal,
            cache_file=settings["cache_file"],
        )
    peak = steps = 0
    for step in trainer.run(train, steps=settings["steps"]):
        print(step)
        steps += 1
        peak = max(peak, heap())
    for line in trainer.outcomes():
        print(line)
    after = measure("after", model, test)
    model.save(settings["adapted"])
    result = {
        "recipe": trainer.program["recipe"],
        "steps": steps,
        "seed": trainer.seed,
        "adapted": settings["adapted"],
        "before": None if before is None else round(100 * float(before), 2),
        "after": None if after is None else round(100 * float(after), 2),
    }
    result.update(ram(peak))
    print("RESULT " + json.dumps(result))


main(read_settings(globals()))
