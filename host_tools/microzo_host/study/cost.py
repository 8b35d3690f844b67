"""What a run costs: forward passes of one sample, and MACs, from its program."""

from microzo import layout as L
from microzo import plan as planner


def suffix_macs(plan, first):
    """MACs of operators first.. of one forward."""
    return sum(planner.macs(plan, L.op_base(i)) for i in range(first, plan[L.N_OPS]))


def forwards(program):
    """Passes of one sample from a stage's first operator to the logits, all stages."""
    return sum(_stage(spec, program)[0] for spec in program["stages"])


def macs(plan, program):
    """MACs of these passes; prefixes count once a sample and stage, as with a full cache."""
    whole = suffix_macs(plan, 0)
    total = 0
    for spec in program["stages"]:
        passes, first = _stage(spec, program)
        prefix = whole - suffix_macs(plan, first)
        total += passes * suffix_macs(plan, first) + program["samples"] * prefix
    return total


def _stage(spec, program):
    """(passes, first operator) of a stage."""
    kind = spec["kind"]
    if kind == "realign":
        return program["samples"] * len(spec["ops"]), 0
    if kind in ("head", "tail"):
        return spec["steps"] * spec["batch"], spec["conv"] if kind == "tail" else spec["head"]
    if kind == "node":
        return spec["steps"] * spec["batch"] * (1 + 2 * spec["probes"]), spec["conv"]
    if spec["sides"] == 1:
        return spec["steps"] * spec["samples"] * (spec["probes"] + 1), spec["first"]
    return spec["steps"] * spec["samples"] * spec["probes"] * 2, spec["first"]
