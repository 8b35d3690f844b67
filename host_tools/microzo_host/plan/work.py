"""What the stages of a program do, from the lists of their methods (Method.work): sums of passes,
multiply-accumulates and bytes of journal. Seconds are in time.py.

Guards, the first looks of a stage that finds its step size and the search of `pick` are left out.
"""

from microzo.journal import file as journals
from microzo.journal import record
from microzo.methods import method
from microzo.net import arena
from microzo.net import words as L

_FRAME = record.HEADER + record.CRC


def items(plan, spec, samples):
    """The work of a resolved stage that sees so many samples, all steps together."""
    return method(spec["kind"]).work(plan, spec, samples)


def seen(spec, program):
    """Samples that a stage of a program sees."""
    return program["samples" if spec.get("realigns") else "train"]


def pass_macs(plan, first=0, last=None):
    """MACs of operators first..last-1 of one forward."""
    ops = range(first, plan[L.N_OPS] if last is None else last)
    return sum(arena.macs(plan, L.op_base(i)) for i in ops)


def forwards(plan, program):
    """Passes of one sample to the logits, from wherever a stage starts; of realign, to the
    operator that is measured."""
    return sum(
        item[3]
        for spec in program["stages"]
        for item in items(plan, spec, seen(spec, program))
        if item[0] == "pass"
    )


def stage_macs(plan, spec, samples, prefixes):
    """MACs of a stage: its passes, and gradients and statistics, each as a pass of its operator.

    prefixes: what a full cache computes once a sample counts, too.
    """
    total = 0
    for item in items(plan, spec, samples):
        if item[0] == "pass":
            total += item[3] * pass_macs(plan, item[1], item[2])
        elif item[0] in ("gradient", "stats"):
            total += item[2] * arena.macs(plan, L.op_base(item[1]))
        elif item[0] == "prefix" and prefixes:
            total += item[2] * pass_macs(plan, 0, item[1])
    return total


def macs(plan, program):
    """MACs of all stages, prefixes once a stage and sample."""
    return sum(stage_macs(plan, s, seen(s, program), True) for s in program["stages"])


def journal_bytes(plan, program, recipe_bytes):
    """Length of the journal of a whole run, whose RECIPE has so many bytes."""
    payloads = recipe_bytes + 4  # RECIPE, END
    records = 2
    for spec in program["stages"]:
        sizes = len(spec["ops"]) + 1 if "batch" in spec else "head" in spec
        scores = 2 if spec["guard"] else 1
        payloads += sizes + 16 * scores  # STAGE; MARK, KEEP
        records += 1 + scores
        for item in items(plan, spec, seen(spec, program)):
            if item[0] in ("record", "indices"):
                payloads += item[1] * item[2]
                records += item[2] if item[0] == "record" else 0
    return journals.HEADER_LEN + payloads + _FRAME * records
