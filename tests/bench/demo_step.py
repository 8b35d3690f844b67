"""Instructions of a training step of the demo network on the emulated board."""

import ast
import dataclasses

import nets  # noqa: F401  (the paths)

from microzo_host.board import emulator
from microzo_host.demo import prepare, session

# One run with the module as it is, one with every function of it timed; both make the same
# steps. ticks_cpu() follows the instructions; what timing itself costs is taken off.
SCRIPT = """
import microzo, time, gc
spent = [0, 0]
def timed(f):
    def call(*args):
        begun = time.ticks_cpu()
        result = f(*args)
        spent[0] += time.ticks_diff(time.ticks_cpu(), begun)
        spent[1] += 1
        return result
    return call
class Timed:
    pass
def steps():
    model = microzo.load("model.safetensors")
    recipe = microzo.recipe("spsa")
    recipe["samples"] = 32
    recipe["stages"][0].update({settings!r})
    trainer = microzo.Trainer(model, recipe, layers={layers!r})
    run = trainer.run(microzo.Dataset("train_x.npy", "train_y.npy"), steps={warm} + 2)
    for _ in range({warm}):
        next(run)
    gc.collect()
    spent[0] = spent[1] = 0
    begun = time.ticks_cpu()
    next(run)
    total = time.ticks_diff(time.ticks_cpu(), begun)
    spec = trainer.program["stages"][0]
    return total, spec["probes"] * spec["samples"], spec["ops"]
total, pairs, ops = steps()
gc.collect()
module = microzo.kernels()
wrapped = Timed()
for name in dir(module):
    f = getattr(module, name)
    setattr(wrapped, name, timed(f) if callable(f) else f)
nothing = timed(lambda *args: None)
spent[0] = spent[1] = 0
for _ in range(8):
    nothing(1, 2, 3, 4, 5, 6)
each = spent[0] // 8
microzo.use(wrapped)
steps()
print((total, spent[0] - each * spent[1], spent[1], pairs, ops))
"""


@dataclasses.dataclass
class Step:
    """Instructions of a step of `pairs` antithetic pairs that trains the operators `ops`."""

    total: int
    kernels: int
    calls: int
    pairs: int
    ops: list


def measure(folder, layers, settings=None, warm=1):
    """The Step of the spsa recipe, with changed settings, on the demo network, on a fresh board.
    warm: steps before it, in which prefixes are computed."""
    model, _, _ = prepare.model("mnist", folder)
    case = prepare.case("mnist", "noise", 5, folder, train=32, test=10)
    script = SCRIPT.format(layers=layers, settings=settings or {}, warm=warm)
    with emulator.Board(ram="1M", fs=session.disk(model, case), icount=True) as board:
        text = board.exec(script, timeout=300)
    total, kernels, calls, pairs, ops = ast.literal_eval(text.strip().splitlines()[-1])
    scale = emulator.TICKS_PER_INSTRUCTION
    return Step(round(total / scale), round(kernels / scale), calls, pairs, ops)
