# Runs on MicroPython: recipes of which a scheduled callback disturbs every step. Prints a line a
# recipe: its name, how many calls were refused, how many failed otherwise, the checksum of the
# state, the sentence. Arguments: model, x, y, recipes (JSON, a list).
import json
import sys

import micropython

import microzo

model_path, x, y, recipes = sys.argv[1:]
REFUSED = "the model is busy"


class Disturber:
    """A callback that comes back until it is stopped, as that of a machine.Timer does."""

    def __init__(self, calls):
        self.calls = calls
        self.refused = self.other = self.count = 0
        self.sentence = ""
        self.on = True
        self.again = self.come
        micropython.schedule(self.again, None)

    def come(self, _):
        self.count += 1
        try:
            self.calls[self.count % len(self.calls)]()
        except ValueError as e:
            self.sentence = str(e)
            if REFUSED in self.sentence:
                self.refused += 1
            else:
                self.other += 1
        if self.on:
            micropython.schedule(self.again, None)


def run(recipe):
    model = microzo.load(model_path)
    data = microzo.Dataset(x, y)
    sample = bytes(model.sample_len)
    trainer = microzo.Trainer(model, recipe, seed=1)
    steps = trainer.run(data)
    disturber = Disturber(
        (
            lambda: model.predict(sample),
            lambda: model.evaluate(data, 1),
            lambda: model.input(sample),
        )
    )
    for _ in steps:
        pass
    disturber.on = False
    for _ in range(100):
        pass
    crc = model.k.crc32(model.state, 0, len(model.state))
    result = recipe["name"], disturber.refused, disturber.other, crc, disturber.sentence
    print(json.dumps(result))


with open(recipes) as f:
    for recipe in json.load(f):
        run(recipe)
