# Runs on MicroPython: every step of every recipe with the heap locked; prints the steps and the
# state's checksum. Arguments: model, x, y, journal, small.CASES in a JSON file.
import json
import sys

import heap_locked  # noqa: F401

import microzo

model_path, x, y, journal, cases = sys.argv[1:]
with open(cases) as f:
    cases = json.load(f)
for label, name, changes, layers in cases:
    for path in (None, journal):
        model = microzo.load(model_path)
        recipe = microzo.recipe(name)
        recipe["samples"] = 40
        for stage in recipe["stages"]:
            if "antithetic" in stage:
                stage.update({"steps": 6, "probes": 3, "samples": 2})
            elif "epochs" in stage:
                stage.update({"epochs": 2, "batch": 8})
        recipe["stages"][-1].update(changes)
        cache = {}
        if path:
            path += label
            cache = {"cache": 1000, "cache_file": path + ".cache"}
        trainer = microzo.Trainer(
            model, recipe, layers, journal=path, checkpoint_every=1000, **cache
        )
        steps = 0
        for _ in trainer.run(microzo.Dataset(x, y)):
            steps += 1
        print(label, steps, model.k.crc32(model.state, 0, len(model.state)))
