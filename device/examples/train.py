"""Adapts a model to the data of this board, shows progress, saves the result. Run it from a PC:

    mpremote run device/examples/train.py
    mpremote exec "recipe = 'forward_only'; steps = 50" run device/examples/train.py

It needs model.safetensors, train_x.npy and train_y.npy; with test_x.npy and test_y.npy it
measures before and after. Settings below are replaced by the keys of settings.json and by
variables of the same name (as above). A run that was interrupted goes on where it stopped.
"""

import gc
import json

import microzo
from microzo.board import files, memory

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
    "lines": 3,  # of progress that are shown of a stage; 0: every step
}


def measure(name, model, test):
    if test is None:
        return None
    print("%s: measuring %d samples ..." % (name, len(test)))
    accuracy = model.evaluate(test)
    print("%s %s" % (name, accuracy))
    return accuracy


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


def chosen(function, *arguments):
    """What a function of microzo/train/settings.py gives; a board then forgets its code."""
    from microzo.train import settings

    microzo.forget("train.settings")
    return getattr(settings, function)(*arguments)


def has_begun(model, journal):
    """True if there is a journal; one that a power cut has kept from its name gets it."""
    from microzo.journal import begin

    microzo.forget("journal.begin")
    microzo.forget("board.same")
    return begin.has_begun(model.k, journal)


def begin(model, settings, given):
    """(trainer, its steps): of a new run, or of the one that the journal has begun."""
    train = microzo.Dataset(*settings["train"])
    journal = settings["journal"]
    if not journal or not has_begun(model, journal):
        trainer = microzo.Trainer(
            model,
            settings["recipe"],
            settings["layers"],
            seed=settings["seed"],
            journal=journal,
            cache_file=settings["cache_file"],
        )
        return trainer, trainer.run(train, steps=settings["steps"])
    trainer = microzo.resume(model, journal, cache_file=settings["cache_file"])
    steps = trainer.run(train)
    chosen("check_journal", trainer, settings, given)
    word = "has finished" if trainer.finished else "goes on"
    print("the run of %s %s; delete the file to start anew" % (journal, word))
    return trainer, steps


def main(settings, given):
    model = microzo.load(settings["model"])
    print(model)
    test = microzo.Dataset(*settings["test"]) if files.exists(settings["test"][0]) else None
    before = measure("before", model, test)
    trainer, run = begin(model, settings, given)
    peak = steps = 0
    for step in run:
        every = -(-step.steps // (settings["lines"] or step.steps))
        if step.step % every == 0 or step.step == step.steps or step.warning:
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


read = chosen("read", SETTINGS, globals())
memory.free()  # what reading left on the stack would keep its code
main(*read)
