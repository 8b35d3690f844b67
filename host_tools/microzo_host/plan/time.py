"""How long a forward pass and a step take, from the bench's instruction counts and a clock.

The table holds, for each core and kind of operator, instructions for each multiplication, output
and weight of a pass, and for what training adds: each perturbed weight, each weight and pair of an
update, each multiplication of an exact gradient and each weight of its update, each output that
realign measures; for each core also those for an output that node perturbs; and what Python adds
to a sample. Seconds are instructions / clock: cycles that a core waits for flash
or branches are not in them.
"""

import json
import pathlib

from microzo.net import arena
from microzo.net import words as L

from .. import place
from . import work

TABLE = pathlib.Path(__file__).parents[1] / "data" / "assets" / "costs.json"
BENCH = place.parts("bench") / "costs.json"
# Python of refilter, on the M4 (tests/e2e/test_steptime.py): instructions of a product of two
# values of a patch, and of a step of solving with integers of any length.
PRODUCT, SOLVE = 1350, 12000


def load():
    """The table that `make bench` wrote, or the one that comes with the package."""
    return json.loads((BENCH if BENCH.is_file() else TABLE).read_text())


class Costs:
    """Instructions of a plan's operators on a core: m4, m3, m0plus, m7 or m33."""

    def __init__(self, plan, core, table=None):
        table = table or load()
        if core not in table["cores"]:
            raise ValueError(f"no counts for core {core}, there are {', '.join(table['cores'])}")
        self.python = table["python"]
        counts = table["cores"][core]
        self._node_output = counts["node"]
        self._ops = [_Operator(plan, o, counts) for o in arena.bases(plan)]
        self._plan = plan

    def passes(self, first=0, last=None, perturbed=()):
        """A pass of operators first..last-1, of which some are perturbed."""
        ops = range(first, len(self._ops) if last is None else last)
        return sum(self._ops[i].forward + (i in perturbed) * self._ops[i].perturb for i in ops)

    def stage(self, spec, samples):
        """All steps of a resolved stage, with every prefix in the cache."""
        return sum(self._item(item) for item in work.items(self._plan, spec, samples))

    def step(self, spec, samples):
        """One step of a resolved stage, on average."""
        return self.stage(spec, samples) // spec["steps"]

    def _item(self, item):
        kind, op, times = item[:3] if len(item) > 2 else (item[0], 0, item[1])
        if kind == "pass":
            return item[3] * self.passes(item[1], item[2], item[4])
        if kind == "sample":
            return times * self.python
        if kind == "patches":
            k = arena.row_len(self._plan, L.op_base(op))
            return PRODUCT * times * k * (k + 1) // 2
        if kind == "solve":
            k = arena.row_len(self._plan, L.op_base(op))
            return SOLVE * (k**3 // 6 + 2 * self._plan[L.op_base(op) + L.OUT_C] * k * k)
        if kind == "nodes":
            return round(times * self._node_output * self._ops[op].outputs)
        if kind == "stats":
            return times * (self._ops[op].forward + self._ops[op].stats)
        if kind in ("update", "gradient", "apply"):
            return times * getattr(self._ops[op], kind)
        return 0  # a prefix is in the cache, a record costs little


class _Operator:
    """Instructions of one operator: a pass, and what training adds to it."""

    def __init__(self, plan, o, table):
        made = table[L.KIND_NAMES[plan[o + L.KIND]]]
        macs = arena.macs(plan, o)
        weights = arena.row_len(plan, o) * plan[o + L.OUT_C]
        self.outputs = arena.out_size(plan, o)
        self.forward = round(
            made["macs"] * macs + made["outputs"] * self.outputs + made["weights"] * weights
        )
        self.perturb = round(made.get("perturb", 0) * weights)
        self.update = round(made.get("update", 0) * weights)
        self.gradient = round(made.get("gradient", 0) * macs)
        self.apply = round(made.get("apply", 0) * weights)
        self.stats = round(made.get("stats", 0) * self.outputs)
