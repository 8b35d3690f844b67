"""Instructions of a training step: a three-step run of `tail` whose clock counts instructions.

Where `tail` does not fit, the trainer takes `head`; the result says which it was.
"""

import ast

from ..board import emulator

STEPS = 3
SAMPLES = 32

# ticks_cpu() is read before and after every step; differences wrap at 2^30.
SCRIPT = """
import microzo, time
model = microzo.load("model.safetensors")
recipe = microzo.recipe("tail")
recipe["samples"] = {samples}
trainer = microzo.Trainer(model, recipe)
steps = trainer.run(microzo.Dataset("train_x.npy", "train_y.npy"), steps={steps})
ticks = []
stage = next(steps).stage
for _ in range({steps} - 1):
    begun = time.ticks_cpu()
    next(steps)
    ticks.append(time.ticks_diff(time.ticks_cpu(), begun))
print((stage, ticks))
"""


def instructions_per_step(files):
    """(stage, mean instructions of a step after the first) on a board with these files."""
    with emulator.Board(fs=files, icount=True) as board:
        code = SCRIPT.format(steps=STEPS, samples=SAMPLES)
        stage, ticks = ast.literal_eval(board.exec(code, timeout=300).strip().splitlines()[-1])
    return stage, round(sum(ticks) / len(ticks) / emulator.TICKS_PER_INSTRUCTION)
