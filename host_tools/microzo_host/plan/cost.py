"""What the steps of a run cost: forward passes of one sample, and MACs, from its program.

Guards, the first looks of a stage that finds its step size and the search of `pick` are left out.
"""

from microzo.methods import stages
from microzo.net import arena as planner
from microzo.net import trainable as selection
from microzo.net import words as L


def suffix_macs(plan, first):
    """MACs of operators first.. of one forward."""
    return sum(planner.macs(plan, L.op_base(i)) for i in range(first, plan[L.N_OPS]))


def forwards(program):
    """Passes of one sample to the logits, from wherever a stage starts; of realign, to the
    operator that is measured."""
    return sum(_passes(spec, program) for spec in program["stages"])


def macs(plan, program):
    """MACs of these passes, and of gradients and statistics, each as a pass of its operator.

    Prefixes count once a stage and sample that it sees, as with a full cache.
    """
    return sum(_macs(plan, spec, program) for spec in program["stages"])


def _seen(spec):
    """Samples that a stage looks at, one after another."""
    if "batch" in spec:
        return spec["steps"] * spec["batch"]
    return spec["steps"] * spec["samples"] * (1 if spec["sides"] == 1 else spec["probes"])


def _passes(spec, program):
    kind = spec["kind"]
    if kind in stages.REALIGN:
        return program["samples"] * len(spec["ops"])
    if kind in ("head", "tail"):
        return _seen(spec)
    if kind == "node":
        return _seen(spec) * (1 + 2 * spec["probes"])
    return _seen(spec) * (1 + spec["probes"] if spec["sides"] == 1 else 2)


def _macs(plan, spec, program):
    kind = spec["kind"]
    whole = suffix_macs(plan, 0)
    if kind in stages.REALIGN:
        return program["samples"] * sum(whole - suffix_macs(plan, op + 1) for op in spec["ops"])
    first = spec["first"] if "first" in spec else spec["conv"]
    if first < 0:
        first = spec["head"]
    each = suffix_macs(plan, first) * _passes(spec, program) // _seen(spec)
    if kind == "node" and "operators" not in spec:
        behind = selection.kept(plan, spec["conv"])[-1] + 1  # where its probes start
        each -= 2 * spec["probes"] * (suffix_macs(plan, first) - suffix_macs(plan, behind))
    if kind == "entropy":
        each += 2 * _one(plan, spec["seen"])  # measured, then run
    gradients = [*(spec.get("operators") or [spec.get("conv", -1)]), spec.get("head", -1)]
    each += sum(_one(plan, op) for op in gradients)
    seen = _seen(spec)
    return seen * each + min(seen, program["train"]) * (whole - suffix_macs(plan, first))


def _one(plan, op):
    return planner.macs(plan, L.op_base(op)) if op >= 0 else 0
