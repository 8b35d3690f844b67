# Runs on MicroPython: every step of every variant with the heap locked; prints a line a variant,
# its number and the checksum of the state. Arguments: model, x, y, a file of variants,
# a JSON text a line: more have no room on a board.
import gc
import json
import sys

import heap_locked  # noqa: F401

import microzo

model_path, x, y, variants = sys.argv[1:]


def run(name, recipe, steps):
    model = microzo.load(model_path)
    try:
        trainer = microzo.Trainer(model, recipe, seed=7, checkpoint_every=1000)
        for _ in trainer.run(microzo.Dataset(x, y), steps):
            pass
    except MemoryError:
        print("allocates", name)
        raise
    return model.k.crc32(model.state, 0, len(model.state))


i = 0
with open(variants) as f:
    for line in f:
        gc.collect()
        print(i, run(*json.loads(line)))
        i += 1
