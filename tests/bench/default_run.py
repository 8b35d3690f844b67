"""Instructions of the whole recipe `default` on the demo network, part by part, on the emulated
board with 256 KB: what a user of the demo waits for, but for the two evaluations of train.py."""

import ast

import nets  # noqa: F401  (the paths)

from microzo_host.board import emulator
from microzo_host.demo import prepare, session

# What measures a stage after its last step counts to the part that follows. Ticks follow the
# instructions.
SCRIPT = """
import microzo, time
def run():
    parts = []
    begun = time.ticks_us()
    def note(part):
        nonlocal begun
        now = time.ticks_us()
        if not parts or parts[-1][0] != part:
            parts.append([part, 0])
        parts[-1][1] += time.ticks_diff(now, begun)
        begun = now
    model = microzo.load("model.safetensors")
    note("load")
    trainer = microzo.Trainer(model, "default", journal="run.journal", cache_file="prefix.tmp")
    steps = trainer.run(microzo.Dataset("train_x.npy", "train_y.npy"))
    note("begin")
    for step in steps:
        note(step.stage)
    note("end")
    return parts
print(run())
"""
TICK = 1e3 / (1 << emulator.ICOUNT_SHIFT)  # instructions of a microsecond


def measure(folder):
    """{part: instructions}, in the order of the run."""
    model, _, _ = prepare.model("mnist", folder)
    case = prepare.case("mnist", "noise", 5, folder)
    with emulator.Board(fs=session.disk(model, case), icount=True) as board:
        text = board.exec(SCRIPT, timeout=1800)
    parts = ast.literal_eval(text.strip().splitlines()[-1])
    return {part: round(ticks * TICK) for part, ticks in parts}
