# Runs on MicroPython while Ctrl-C comes at any moment: the same trainer goes on each time. Prints
# "ready" before a recipe, then its name, how often it was interrupted, the checksum of the state.
# Arguments: model, x, y, recipes (JSON, a list), a journal or "".
import json
import sys

import microzo

model_path, x, y, recipes, journal = sys.argv[1:]


def run(recipe, name):
    model = microzo.load(model_path)
    data = microzo.Dataset(x, y)
    trainer = microzo.Trainer(model, recipe, seed=1, journal=name)
    print("ready")
    count = 0
    done = False
    while not done:
        try:
            for _ in trainer.run(data):
                pass
            print("end")
            done = True
        except KeyboardInterrupt:
            count += 1
    return recipe["name"], count, model.k.crc32(model.state, 0, len(model.state))


with open(recipes) as f:
    loaded = json.load(f)
for i, recipe in enumerate(loaded):
    result = None
    while result is None:
        try:
            result = run(recipe, journal + str(i) if journal else None)
        except KeyboardInterrupt:
            print("late")  # it came behind the end: the run is not counted
            result = recipe["name"], 0, 0
    print(json.dumps(result))
