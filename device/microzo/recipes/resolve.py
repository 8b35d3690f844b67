"""Turns a recipe, a model and data into the program of a run: stages with every number fixed."""

from array import array

from ..methods import method
from ..net import arena as planner
from ..net import trainable

_HOLDOUT = 20  # per cent of live samples, where a recipe does not say


class Want:
    """What a stage is resolved for. layers: operators to train, as Trainer has them; steps:
    overrides the length of a training stage, or None; train: samples that are trained; alone: the
    recipe has no other stage; limited: memory is; notes: what was left out, in sentences."""

    def __init__(self, layers, steps, train, alone, limited):
        self.layers = layers
        self.steps = steps
        self.train = train
        self.alone = alone
        self.limited = limited
        self.notes = []

    def note(self, text):
        self.notes.append(text)

    def of(self, layers):
        """The same for other layers; the notes are shared."""
        other = Want(layers, self.steps, self.train, self.alone, self.limited)
        other.notes = self.notes
        return other


def resolve(model, recipe, layers, total, labelled, steps, room, double):
    """{"recipe", "samples", "train", "stages", "notes"}; JSON can hold it.

    total: samples there are; steps: overrides the length of the training stages; room: bytes, or
    None; double: the state is kept twice (no journal). ValueError if nothing can be trained. The
    recipe is one that names.check lets pass.
    """
    trainable.choose(model.plan, layers)  # refuses what is wrong, where no stage asks for it, too
    n = min(total, recipe["samples"])
    live = recipe.get("window", 0)  # then samples are held out as they come
    held = n * recipe["holdout"] // 100 if labelled and not live else 0
    want = Want(layers, steps, n - held, len(recipe["stages"]) == 1, room is not None)
    program = {
        "recipe": recipe["name"],
        "samples": n,
        "train": n - held,
        "stages": [],
        "notes": want.notes,
    }
    if live:
        program["live"] = live
        program["hold"] = max(2, 100 // (recipe["holdout"] or _HOLDOUT))  # one in so many
    takes_layers = []
    for stage in recipe["stages"]:
        kind = method(stage["kind"])
        if kind.perturbs:
            takes_layers.append(kind.kind)
        if not labelled and kind.labels:
            want.note("no %s, the data have no labels" % kind.kind)
            continue
        parts = ((stage, layers),)
        if "split" in recipe:
            from . import allocate

            parts = allocate.parts(model.plan, recipe, stage, kind.perturbs, layers)
        for part, chosen in parts:
            specs = kind.choices(model.plan, plain(part), want.of(chosen))
            spec = _fitting(model, program, specs, room, double)
            if spec is not None:
                if not labelled and spec["guard"]:
                    spec["guard"] = _free_guard(spec)
                program["stages"].append(spec)
    if layers not in ("auto", "all") and not takes_layers:
        want.note(
            "layers is for spsa, elastic, entropy, node stages, of which this recipe has none"
        )
    if not program["stages"]:
        raise ValueError(
            "recipe %s has nothing to do: %s" % (recipe["name"], "; ".join(want.notes))
        )
    return program


def plain(stage):
    """Of a stage, without those of the search before a run; True is 1."""
    settings = {}
    for key in stage:
        if key not in ("pick", "top", "macs"):
            value = stage[key]
            settings[key] = int(value) if isinstance(value, bool) else value
    return settings


def _free_guard(spec):
    """The guard of a stage when there are no labels: realign alone goes without."""
    return "free" if spec["guard"] == "free" or spec["kind"] in ("refilter", "recolor") else ""


def _fitting(model, program, choices, room, double):
    """The first of the choices that fits in `room` beside the stages before; the first stage is
    taken in any case."""
    spec = note = None
    notes = program["notes"]
    for spec in choices:
        stages = program["stages"] + [spec]
        needed = sum(needs(model, dict(program, stages=stages), double).values())
        if room is None or needed <= room:
            if note:
                notes.append("%s, %s instead" % (note, describe(spec)))
            return spec
        note = note or "no %s, which needs %d bytes (room: %d)" % (describe(spec), needed, room)
    if note:
        notes.append(note)
    return None if program["stages"] else spec


def describe(spec):
    """A resolved stage in some words."""
    kind = spec["kind"]
    ops = spec.get("mixed", spec["ops"])
    if kind in ("realign", "refilter") or not ops:
        return kind
    if len(ops) == 1 and "batch" in spec:
        head = "" if spec["head"] >= 0 else " without the head"
        return "%s of operator %d%s" % (kind, ops[0], head)
    return "%s of operators %s" % (kind, ops)


def trains(program):
    """Pairs (operator, bits) of everything the stages train, for Model.place."""
    pairs = []
    for spec in program["stages"]:
        pairs += method(spec["kind"]).trains(spec)
    return pairs


def needs(model, program, double):
    """Bytes a run needs, by part, besides the model and the program code."""
    plan = array("i", model.plan)
    state = planner.place_state(plan, trains(program))
    # an arena that is there already does not shrink
    activations = max(planner.layout(plan), len(model.arena))
    most = {"activations": activations, "gradients": 0, "nodes": 0, "buffers": 0}
    for spec in program["stages"]:
        stage = method(spec["kind"]).memory(plan, spec, state)
        for part in most:
            most[part] = max(most[part], stage.get(part, 0))
    parts = {
        "trained values": state,
        "copy for roll-back": state if double or program.get("live") else 0,
        "activations": most["activations"],
        "gradients": most["gradients"],
        "nodes": most["nodes"],
        "sample order and labels": 6 * program["samples"],
        "sample buffers": 2 * model.sample_len,
        "statistics and records": most["buffers"] + 512,
    }
    if program.get("live"):
        batch = max(spec.get("batch", spec.get("samples", 0)) for spec in program["stages"])
        parts["collected samples"] = (program["live"] + batch) * (model.sample_len + 2)
        parts["undo of a step"] = state + most["gradients"]
    return parts
