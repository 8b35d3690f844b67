"""Turns a recipe, a model and data into the program of a run: stages with every number fixed."""

from array import array

from ..methods import gradient, stages
from ..net import arena as planner
from ..net import trainable as selection
from ..net import words as L

CHOSEN = ("spsa", "elastic", "entropy", "node")  # kinds of stages that train the layers one gives


def check(recipe):
    """recipes.check; a board forgets its code, before what is free is measured."""
    from .. import forget
    from . import names as recipes

    try:
        recipes.check(recipe)
    finally:
        forget("recipes.names")


def resolve(model, recipe, layers, total, labelled, steps, room, double):
    """{"recipe", "samples", "train", "stages", "notes"}; JSON can hold it.

    total: samples there are; steps: overrides the length of the training stages; room: bytes, or
    None; double: the state is kept twice (no journal). ValueError if nothing can be trained.
    The recipe is one that `check` lets pass.
    """
    selection.choose(model.plan, layers)  # refuses what is wrong, where no stage asks for it, too
    alone = len(recipe["stages"]) == 1  # then it is this stage or none
    n = min(total, recipe["samples"])
    held = n * recipe["holdout"] // 100 if labelled else 0
    program = {
        "recipe": recipe["name"],
        "samples": n,
        "train": n - held,
        "stages": [],
        "notes": [],
    }
    for stage in recipe["stages"]:
        if not labelled and _needs_labels(stage):
            program["notes"].append("no %s, the data have no labels" % stage["kind"])
            continue
        parts = ((stage, layers),)
        if "split" in recipe:
            from . import allocate as split

            parts = split.parts(model.plan, recipe, stage, layers)
        for part, chosen in parts:
            spec = _fitting(
                model,
                program,
                _choices(model.plan, part, chosen, program, steps, room is not None, alone),
                room,
                double,
            )
            if spec is not None:
                if not labelled and spec["guard"]:
                    spec["guard"] = _free_guard(spec)
                program["stages"].append(spec)
    if layers not in ("auto", "all") and all(s["kind"] not in CHOSEN for s in recipe["stages"]):
        program["notes"].append("layers is for %s, which this recipe has not" % ", ".join(CHOSEN))
    if not program["stages"]:
        raise ValueError(
            "recipe %s has nothing to do: %s" % (recipe["name"], "; ".join(program["notes"]))
        )
    return program


def _needs_labels(stage):
    return stage["kind"] not in ("realign", "refilter", "entropy")


def _free_guard(spec):
    """The guard of a stage when there are no labels: realign alone goes without."""
    return "free" if spec["guard"] == "free" or spec["kind"] == "refilter" else ""


def _fitting(model, program, choices, room, double):
    """The first of the choices that fits in `room` beside the stages before; the first stage is
    taken in any case."""
    spec = note = None
    for spec in choices:
        needed = sum(
            needs(model, dict(program, stages=program["stages"] + [spec]), double).values()
        )
        if room is None or needed <= room:
            if note:
                program["notes"].append("%s, %s instead" % (note, _describe(spec)))
            return spec
        note = note or "no %s, which needs %d bytes (room: %d)" % (
            _describe(spec),
            needed,
            room,
        )
    if note:
        program["notes"].append(note)
    return None if program["stages"] else spec


def _describe(spec):
    kind = spec["kind"]
    ops = spec.get("ops") or spec.get("operators")
    if ops:
        return "%s of operators %s" % (kind, ops)
    if kind not in ("tail", "node"):
        return kind
    head = "" if spec["head"] >= 0 else " without the head"
    return "%s of operator %d%s" % (kind, spec["conv"], head)


def _choices(plan, stage, layers, program, steps, limited, alone):
    """What a stage of a recipe may become for this model, best first."""
    kind = stage["kind"]
    if kind == "realign":
        ops = selection.realignable(plan)
        if not ops:
            program["notes"].append("no realign, the model file holds no clean statistics")
            return ()
        return ({"kind": kind, "ops": ops, "alpha": stage["alpha"], "guard": stage["guard"]},)
    if kind == "refilter":
        return _refilter(plan, stage, program)
    if kind in ("spsa", "entropy"):
        ops = selection.choose(plan, layers)
        fewest = len(ops) if not limited or layers != "auto" else 1
        specs = [_spsa(stage, ops[-n:], steps) for n in range(len(ops), fewest - 1, -1)]
        for spec in specs if kind == "entropy" else ():
            seen = [i for i in selection.realignable(plan) if i >= spec["first"]]
            spec["seen"] = seen[-1] if seen and stage["stats"] else -1
        return specs
    head = selection.head(plan)
    if kind == "node":
        return [
            _node(stage, group, last, program["train"], steps)
            for group in _groups(plan, stage, layers, limited)
            for last in ((head, -1) if stage["train_head"] and head >= 0 else (-1,))
        ]
    if head < 0:
        program["notes"].append("no %s, the last operator is not dense" % kind)
        return ()
    if kind == "elastic":
        body = [i for i in selection.choose(plan, layers) if i != head]
        return [dict(_spsa(stage, body, steps), head=head)] if body else ()
    ops = selection.tails(plan) if kind == "tail" else [-1]
    if not ops:
        note = "no tail, no convolution feeds the head in closed form"
        program["notes"].append(note if alone else note + ", head instead")
    if kind == "tail" and not alone:
        ops.append(-1)
    return [_gradient(stage, at, head, program["train"], steps) for at in ops]


def _refilter(plan, stage, program):
    ops = selection.realignable(plan)
    if not plan[L.COV_OFF] or ops[:1] != [0]:
        program["notes"].append("no refilter, the model file holds no covariance of its input")
        return ()
    o = L.op_base(0)
    if 2 * plan[o + L.OUT_C] * planner.row_len(plan, o) > 65535:
        program["notes"].append("no refilter, the first convolution is too large for a record")
        return ()
    return (dict(stage, ops=ops),)


def _groups(plan, stage, layers, limited):
    """Lists of the operators that a node stage may perturb, best first."""
    ops = selection.nodes(plan, layers)
    anything = layers in ("auto", "all")
    if not stage["model_wise"]:
        return [[i] for i in selection.tails(plan) or ops[-1:]] if anything else [ops[:1]]
    fewest = len(ops) if not limited or not anything else 1
    return [ops[-n:] for n in range(len(ops), fewest - 1, -1)]


def _spsa(stage, ops, steps):
    return dict(
        stage, ops=ops, lo=ops[0], hi=ops[-1] + 1, first=ops[0], steps=steps or stage["steps"]
    )


def _node(stage, ops, head, train, steps):
    batch = min(stage["batch"], train)
    made = {k: stage[k] for k in stage if k not in ("epochs", "train_head")}
    made.update(conv=ops[0], head=head, batch=batch)
    made["steps"] = steps or max(1, stage["epochs"] * train // batch)
    if stage["model_wise"]:
        made["operators"] = ops
    return made


def _gradient(stage, conv, head, train, steps):
    batch = min(stage["batch"], train)
    return {
        "kind": "tail" if conv >= 0 else "head",
        "conv": conv,
        "head": head,
        "batch": batch,
        "decay": stage["decay"],
        "conv_shift": stage.get("conv_shift", 0),
        "head_shift": stage["head_shift"],
        "guard": stage["guard"],
        "steps": steps or max(1, stage["epochs"] * train // batch),
    }


def selections(program):
    """Pairs (operator, what) of everything the stages train, for Model.place."""
    pairs = []
    for spec in program["stages"]:
        kind = spec["kind"]
        if kind in stages.REALIGN:
            pairs += [(i, L.BIASES | L.MULTIPLIERS) for i in spec["ops"]]
            if kind == "refilter":
                pairs.append((0, L.WEIGHTS))
        elif "ops" in spec:
            pairs += [(i, spec["what"]) for i in spec["ops"]]
        if kind in stages.GRADIENTS:
            pairs += [(i, L.WEIGHTS | L.BIASES) for i in _exact(spec)]
    return pairs


def _exact(spec):
    """Operators whose gradient is kept in a buffer."""
    ops = spec.get("operators") or [spec.get("conv", -1)]
    return [i for i in ops + [spec.get("head", -1)] if i >= 0]


def realign_buffers(plan, spec):
    """Bytes that a realign or refilter stage takes for itself."""
    made = 36 * max(plan[L.op_base(i) + L.OUT_C] for i in spec["ops"])
    if spec["kind"] == "refilter":
        o = L.op_base(0)
        k = planner.row_len(plan, o)
        made += 6 * k * (k + 1) + (4 + 2 * plan[o + L.OUT_C]) * k + 16
    return made


def needs(model, program, double):
    """Bytes a run needs, by part, besides the model and the program code."""
    plan = array("i", model.plan)
    state = planner.place_state(plan, selections(program))
    arena = planner.layout(plan)
    grad = nodes = buffers = 0
    for spec in program["stages"]:
        if spec["kind"] in stages.REALIGN:
            buffers = max(buffers, realign_buffers(plan, spec))
        elif "ops" in spec:
            arena = max(arena, planner.layout(plan, spec["first"]))
            if stages.shares(spec) and plan[L.op_base(spec["first"]) + L.KIND] == L.DENSE:
                buffers = max(buffers, 8 * L.KEPT)
            if stages.shaped(spec):
                from . import options

                buffers = max(buffers, options.needs(plan, spec, state))
        elif "operators" in spec:
            arena = max(arena, planner.layout(plan, spec["conv"]))
            most = max(planner.out_size(plan, L.op_base(i)) for i in spec["operators"])
            nodes = max(nodes, 4 * most)
        elif spec["kind"] == "node":
            pinned = selection.kept(plan, spec["conv"])
            arena = max(arena, planner.layout(plan, spec["conv"], pinned))
            nodes = max(nodes, 5 * planner.out_size(plan, L.op_base(spec["conv"])))
        else:
            ops = _exact(spec)
            pinned = selection.kept(plan, spec["conv"])
            arena = max(arena, planner.layout(plan, ops[0], pinned))
        if spec["kind"] in stages.GRADIENTS:
            grad = max(grad, sum(gradient.grad_bytes(plan, i) for i in _exact(spec)))
    return {
        "trained values": state,
        "copy for roll-back": state if double else 0,
        "activations": arena,
        "gradients": grad,
        "nodes": nodes,
        "sample order and labels": 6 * program["samples"],
        "sample buffers": 2 * model.sample_len,
        "statistics and records": buffers + 512,
    }
