"""Turns a recipe, a model and data into the program of a run: stages with every number fixed."""

from array import array

from . import gradient, recipes, selection
from . import layout as L
from . import plan as planner


def resolve(model, recipe, layers, total, labelled, steps, room, double):
    """{"recipe", "samples", "train", "stages", "notes"}; JSON can hold it.

    total: samples there are; steps: overrides the length of the training stages; room: bytes, or None;
    double: the state is kept twice (no journal). ValueError if nothing can be trained.
    """
    recipes.check(recipe)
    n = min(total, recipe["samples"])
    held = n * recipe["holdout"] // 100 if labelled else 0
    program = {"recipe": recipe["name"], "samples": n, "train": n - held, "stages": [], "notes": []}
    for stage in recipe["stages"]:
        spec = _stage(model, stage, layers, program, labelled, steps, room, double)
        if spec is not None:
            if not labelled:
                spec["guard"] = ""
            program["stages"].append(spec)
    if not program["stages"]:
        raise ValueError("recipe %s has nothing to do: %s" % (recipe["name"], "; ".join(program["notes"])))
    return program


def _stage(model, stage, layers, program, labelled, steps, room, double):
    kind = stage["kind"]
    plan = model.plan
    note = program["notes"].append
    if kind == "realign":
        ops = selection.realignable(plan)
        if not ops:
            note("no realign, the model file holds no clean statistics")
            return None
        return {"kind": kind, "ops": ops, "alpha": stage["alpha"], "guard": stage["guard"]}
    if not labelled:
        note("no %s, the data have no labels" % kind)
        return None
    if kind == "spsa":
        return _spsa(plan, stage, layers, steps, room, double)
    return _gradient(plan, stage, program, steps, room, double)


def _spsa(plan, stage, layers, steps, room, double):
    spec = dict(stage)
    if room is not None:
        room = max(0, room - arena_bytes(plan, 0, ())) >> double
    ops = selection.choose(plan, layers, spec["what"], room)
    if not ops:
        raise MemoryError("too little memory to train any layer by spsa: %s bytes are left for weights" % room)
    spec["ops"] = ops
    spec["lo"] = ops[0]
    spec["hi"] = ops[-1] + 1
    spec["first"] = ops[0]
    spec["steps"] = steps or stage["steps"]
    return spec


def _gradient(plan, stage, program, steps, room, double):
    note = program["notes"].append
    head = selection.head(plan)
    if head < 0:
        note("no %s, the last operator is not dense" % stage["kind"])
        return None
    conv = -1
    if stage["kind"] == "tail":
        conv = selection.tail(plan)
        if conv < 0:
            note("head in place of tail, no convolution feeds the head in closed form")
        elif room is not None and gradient_needs(plan, conv, head, double) > room:
            note("head in place of tail, which needs %d bytes" % gradient_needs(plan, conv, head, double))
            conv = -1
    spec = {
        "kind": "tail" if conv >= 0 else "head", "conv": conv, "head": head, "guard": stage["guard"], "decay": stage["decay"],
        "batch": min(stage["batch"], program["train"]),
        "shift_conv": stage["shift"], "shift_head": stage.get("head_shift", stage["shift"]),
    }
    spec["steps"] = steps or max(1, stage["epochs"] * program["train"] // spec["batch"])
    return spec


def gradient_needs(plan, conv, head, double):
    ops = [head] if conv < 0 else [conv, head]
    state = selection.state_bytes(plan, ops, L.WEIGHTS | L.BIASES) << double
    first = ops[0]
    return state + sum(gradient.grad_bytes(plan, i) for i in ops) + arena_bytes(plan, first, ops[:-1])


def selections(program):
    """Pairs (operator, what) of everything the stages train, for Model.place."""
    pairs = []
    for spec in program["stages"]:
        kind = spec["kind"]
        if kind == "realign":
            pairs += [(i, L.BIASES | L.MULTIPLIERS) for i in spec["ops"]]
        elif kind == "spsa":
            pairs += [(i, spec["what"]) for i in spec["ops"]]
        else:
            pairs += [(i, L.WEIGHTS | L.BIASES) for i in (spec["conv"], spec["head"]) if i >= 0]
    return pairs


def arena_bytes(plan, first, pins):
    return planner.layout(array("i", plan), first, pins)


def needs(model, program, double):
    """Bytes a run needs, by part, besides the model and the program code."""
    plan = array("i", model.plan)
    state = planner.place_state(plan, selections(program))
    arena = planner.layout(plan)
    grad = buffers = 0
    for spec in program["stages"]:
        if spec["kind"] == "realign":
            widths = {plan[L.op_base(i) + L.OUT_C] for i in spec["ops"]}
            buffers = max(buffers, sum(widths) * 36)
        elif spec["kind"] == "spsa":
            arena = max(arena, planner.layout(plan, spec["first"]))
        else:
            ops = [i for i in (spec["conv"], spec["head"]) if i >= 0]
            grad = sum(gradient.grad_bytes(plan, i) for i in ops)
            arena = max(arena, planner.layout(plan, ops[0], ops[:-1]))
    return {
        "trained values": state,
        "copy for roll-back": state if double else 0,
        "activations": arena,
        "gradients": grad,
        "sample order and labels": 6 * program["samples"],
        "sample buffers": 2 * model.sample_len,
        "statistics and records": buffers + 512,
    }
