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

import microzo.methods.stages
import microzo.net.arena
import microzo.net.trainable
import microzo.net.words

from ..board import push

L = microzo.net.words
TABLE = pathlib.Path(__file__).parents[1] / "data" / "assets" / "costs.json"
BENCH = push.ROOT / "build" / "bench" / "costs.json"
# Python of refilter, on the M4 (tests/e2e/test_steptime.py): instructions of a product of two
# values of a patch, and of a step of solving with integers of any length.
PRODUCT, SOLVE = 1350, 12000


def load():
    """The table that `make bench` wrote, or the one that comes with the package."""
    return json.loads((BENCH if BENCH.is_file() else TABLE).read_text())


class Costs:
    """Instructions of a plan's operators on a core: m4, m3, m0plus, m7, m33 or rv32."""

    def __init__(self, plan, core, table=None):
        table = table or load()
        if core not in table["cores"]:
            raise ValueError(f"no counts for core {core}, there are {', '.join(table['cores'])}")
        self.python = table["python"]
        counts = table["cores"][core]
        self._node_output = counts["node"]
        self._ops = [_Operator(plan, o, counts) for o in microzo.net.arena.bases(plan)]
        self._plan = plan

    def passes(self, first=0, last=None, perturbed=()):
        """A pass of operators first..last-1, of which some are perturbed."""
        ops = range(first, len(self._ops) if last is None else last)
        return sum(self._ops[i].forward + (i in perturbed) * self._ops[i].perturb for i in ops)

    def update(self, ops, pairs):
        """One update of the weights of `ops` by so many pairs."""
        return pairs * sum(self._ops[i].update for i in ops)

    def step(self, stage, samples):
        """One step of a stage of a program, with every prefix in the cache."""
        kind = stage["kind"]
        if kind in microzo.methods.stages.REALIGN:
            each = [self.passes(0, op + 1) + self._ops[op].stats for op in stage["ops"]]
            mean = samples * (sum(each) // len(each) + self.python)
            if kind == "realign":
                return mean
            return (mean * len(each) + self._filters(stage, samples)) // (len(each) + 1)
        if kind in ("spsa", "elastic", "entropy"):
            return self._zeroth(stage)
        if kind == "node":
            return self._node(stage)
        first = stage["conv"] if stage["conv"] >= 0 else stage["head"]
        each = self.passes(first) + self._gradients(stage) + self.python
        return stage["batch"] * each + self._apply(stage)

    def _filters(self, stage, samples):
        o = L.op_base(0)
        k = microzo.net.arena.row_len(self._plan, o)
        solved = k**3 // 6 + 2 * self._plan[o + L.OUT_C] * k * k
        products = samples * stage["patches"] * k * (k + 1) // 2
        return PRODUCT * products + SOLVE * solved

    def _zeroth(self, stage):
        first, ops, probes = stage["first"], stage["ops"], stage["probes"]
        moved = [max(ops, key=lambda i: self._ops[i].perturb)] if stage["by_layer"] else ops
        clean, noisy = self.passes(first), self.passes(first, None, moved)
        if stage["sides"] == 2:
            each = probes * (2 * noisy + self._gradients(stage) + self.python)
        else:
            each = clean + probes * noisy + (probes + 1) * self.python
        return stage["samples"] * each + self.update(moved, probes) + self._apply(stage)

    def _node(self, stage):
        conv, probes = stage["conv"], stage["probes"]
        several = stage.get("operators")
        ops = several or [conv]
        each = self.passes(conv) + self._gradients(stage) + self.python
        nodes = round(self._node_output * sum(self._ops[op].outputs for op in ops))
        # for several, five calls an operator and probe: about those of another stage's sample
        python = len(ops) * self.python
        behind = (
            microzo.net.trainable.kept(self._plan, conv)[-1] + 1
        )  # where the probes of one start
        probe = 2 * self.passes(conv if several else behind) + nodes + python
        return stage["batch"] * (each + probes * probe) + self._apply(stage)

    def _gradients(self, stage):
        return sum(self._ops[i].gradient for i in _exact(stage))

    def _apply(self, stage):
        return sum(self._ops[i].apply for i in _exact(stage))


def _exact(stage):
    """Operators whose gradient the stage makes."""
    ops = stage.get("operators") or [stage.get("conv", -1)]
    return [i for i in [*ops, stage.get("head", -1)] if i >= 0]


class _Operator:
    """Instructions of one operator: a pass, and what training adds to it."""

    def __init__(self, plan, o, table):
        made = table[L.KIND_NAMES[plan[o + L.KIND]]]
        macs = microzo.net.arena.macs(plan, o)
        weights = microzo.net.arena.row_len(plan, o) * plan[o + L.OUT_C]
        self.outputs = microzo.net.arena.out_size(plan, o)
        self.forward = round(
            made["macs"] * macs + made["outputs"] * self.outputs + made["weights"] * weights
        )
        self.perturb = round(made.get("perturb", 0) * weights)
        self.update = round(made.get("update", 0) * weights)
        self.gradient = round(made.get("gradient", 0) * macs)
        self.apply = round(made.get("apply", 0) * weights)
        self.stats = round(made.get("stats", 0) * self.outputs)
