"""The program of a journal, made anew: whatever wrote it, the run is one that a recipe can ask
for."""

import json

from ..methods import method
from .resolve import Want, plain

_DEEPEST = 16  # brackets of a program, and of texts in it
_NO_RECIPE = "its RECIPE holds no program that this microzo runs: "


def read(payload, plan, most, labelled):
    """The program in the RECIPE of a journal, for the model of `plan`, as resolve gives it.

    most: samples that there are; labelled: False if they have no labels. ValueError if a resolved
    recipe cannot be so.
    """
    try:
        _check_depth(payload)
        return _program(json.loads(bytes(payload)), plan, most, labelled)
    except ValueError as e:
        raise ValueError("the journal is damaged: " + _NO_RECIPE + str(e)[:300])


def _check_depth(payload):
    """A collector of MicroPython takes minutes for thousands of lists in lists."""
    depth = 0
    for c in payload:
        if c == 0x5B or c == 0x7B:  # [ {
            depth += 1
            if depth > _DEEPEST:
                raise ValueError("too many brackets in brackets")
        elif c == 0x5D or c == 0x7D:
            depth -= 1


def _program(program, plan, most, labelled):
    if not isinstance(program, dict):
        raise ValueError("it is no object")
    samples = _integer(program, "samples", 1, min(most, 4096))
    train = _integer(program, "train", 1, samples)
    notes = program.get("notes")
    stages = program.get("stages")
    if not isinstance(stages, list) or not stages or not isinstance(notes, list):
        raise ValueError("stages and notes are lists")
    for text in [program.get("recipe")] + notes:
        if not isinstance(text, str) or any(ord(c) < 32 for c in text):
            raise ValueError("a name or a note is no text")
    made = {
        "recipe": program["recipe"],
        "samples": samples,
        "train": train,
        "stages": [_stage(spec, plan, train, labelled) for spec in stages],
        "notes": notes,
    }
    if "live" in program:
        made["live"] = _integer(program, "live", 4, 1024)
        made["hold"] = _integer(program, "hold", 2, 100)
    return made


def _integer(values, name, low, high):
    value = values.get(name)
    if type(value) is not int or not low <= value <= high:
        raise ValueError("%s is %d..%d, not %r" % (name, low, high, value))
    return value


def _stage(spec, plan, train, labelled):
    """The spec that the settings in a spec lead to; ValueError if it is another one."""
    if not isinstance(spec, dict):
        raise ValueError("a stage is an object")
    declared = method(spec.get("kind"))
    stage = declared.defaults()
    for row in declared.settings + declared.options:
        if row[0] in spec and row[0] != "steps":
            stage[row[0]] = spec[row[0]]
    declared.check(stage)
    ops = spec.get("ops")
    if not isinstance(ops, list) or any(type(op) is not int for op in ops):
        raise ValueError("ops is a list of operators")
    steps = _integer(spec, "steps", 1, (1 << 30) - 1)  # those of Trainer.run
    want = Want(ops if declared.perturbs else "auto", steps, train, True, True)
    for other in declared.choices(plan, plain(stage), want):
        if other == spec:
            if not labelled and (declared.labels or spec["guard"] in ("all", "held")):
                raise ValueError("stage %s learns from labels, the data have none" % spec["kind"])
            return other
    raise ValueError("stage %s does not suit the model" % spec["kind"])
