"""What spsa, elastic and entropy declare alike: the settings of a zeroth-order stage, its pieces,
memory and work."""

from ..net import arena as planner
from ..net import trainable
from ..net import words as L
from ..zo.probe import TRAIN, bits, shares
from ..zo.rules import RULES
from ..zo.schedule import NORM_SCALINGS, SCHEDULES
from ..zo.settings import CHUNK, DIRECTIONS, FACTORS, GAUSS, MASKS, ROUNDS
from ..zo.update import PAIRS, shaped
from .declaration import GUARDS, Method

SETTINGS = (
    ("steps", 156, 1, 1 << 20),  # steps of the stage
    ("probes", 8, 1, 64),  # random directions of a step
    ("samples", 8, 1, 256),  # samples of a probe
    ("shift", 1, -14, 28),  # halvings of the step; negative: larger steps
    ("first_shift", 0, -14, 28),  # shift where no realign or refilter was kept before
    ("clip", 512, 1, 32767),  # largest coefficient of a probe, Q8 nats
    ("train", ("weights", "biases"), TRAIN),  # what is perturbed and moved
    ("wide", 0, 0, 1),  # 1: passes with 16-bit weights
    ("eps_shift", 0, 0, 31),  # halvings of the perturbation
    ("antithetic", 1, 0, 1),  # 0: one clean loss for all probes of a step, which share samples
    ("rule", "value", tuple(RULES)),  # how loss differences become coefficients
    ("schedule", "step", SCHEDULES),  # how the step shrinks over the stage
    ("by_layer", 0, 0, 1),  # 1: every step perturbs one operator, in turn
    ("norm_scaling", "", NORM_SCALINGS),  # of the step by probes and values; "root": its root
)
GUARD = ("guard", "held", GUARDS)  # samples that decide whether the stage is kept
OPTIONS = (
    ("share", 0, 0, 1),  # 1: all probes of a step see the same samples
    ("mask", "", MASKS),  # which weights are perturbed and moved; "small", "large": by |weight|
    ("one_in", 10, 2, 255),  # of so many weights, or output channels, the mask lets one through
    ("direction", "", DIRECTIONS),  # given, eps_shift works with 8-bit weights, too
    ("factors", "", FACTORS),  # a factor of the step for every output channel
    ("round", "", ROUNDS),  # weights after a step; "feedback": the rest behind the point fades
    ("guided", 0, 0, 1),  # 1: the first probe looks along the last step
    ("sharp", 0, 0, 64),  # probes around a point so many quarters of a perturbation uphill
)


def copies(spec):
    """True if the perturbed values are made in a copy of the state."""
    return (
        spec["kind"] == "entropy"
        or any(spec.get(key) for key in ("mask", "guided", "sharp"))
        or spec.get("direction") == "gauss"
        or bool(spec["eps_shift"])
        and any(spec.get(key) for key in ("direction", "factors", "round"))
    )


def tables(spec):
    """Bytes of what a stage takes whatever the model: pairs, coefficients, plans of one
    operator."""
    size = 8 * PAIRS + 16 * spec["probes"]
    if not (copies(spec) or shaped(spec)):
        return size
    from ..net.one_operator import COPIER_BYTES, PLAN_BYTES

    if copies(spec):
        size += COPIER_BYTES + 8 * GAUSS
    if spec.get("mask"):
        size += PLAN_BYTES + 8 * CHUNK
    if shaped(spec):
        size += PLAN_BYTES
        if spec.get("mask") or spec.get("factors"):
            size += COPIER_BYTES
    return size


class ZerothMethod(Method):
    """Specs have ops, their first and the operator behind the last as lo and hi, first (where
    passes begin), steps."""

    perturbs = "weights"
    settings = SETTINGS + (GUARD,)
    options = OPTIONS

    def check_together(self, stage):
        kind = self.kind
        if stage["probes"] * stage["samples"] > 256:
            raise ValueError(
                "%s takes at most 256 samples a step, probes * samples is more" % kind
            )
        if stage["clip"] << max(0, -stage["shift"], -stage["first_shift"]) > 32767:
            raise ValueError(
                "%s: clip * 2^-shift is at most 32767, a coefficient's 16 bits: take a larger "
                "shift or less clip" % kind
            )
        if stage["schedule"] == "cosine" and stage["clip"] > 2047:
            raise ValueError("%s with a cosine schedule takes a clip of 1..2047" % kind)
        for name in ("mask", "factors", "round"):
            if stage.get(name) and "weights" not in stage["train"]:
                raise ValueError("%s: %s is for weights, which train has not" % (kind, name))
        finest = 31
        if copies(dict(stage, kind=kind)) or shaped(stage):
            finest = 6 if stage.get("direction") == "gauss" else 8
        if stage["eps_shift"] > finest:
            raise ValueError(
                "%s: with these settings eps_shift is at most %d, not %d: a perturbation has 8 "
                "bits behind the point" % (kind, finest, stage["eps_shift"])
            )
        if "one_in" in stage and not stage.get("mask"):
            raise ValueError("%s: one_in needs a mask" % kind)
        if stage.get("guided") and stage["probes"] > 32:
            raise ValueError(
                "%s: guided takes at most 32 probes, an update has 64 coefficients" % kind
            )

    def choices(self, plan, stage, want):
        ops = self.operators(plan, want)
        fewest = len(ops) if not want.limited or want.layers != "auto" else 1
        return [self.resolve(plan, stage, ops[-n:], want) for n in range(len(ops), fewest - 1, -1)]

    def operators(self, plan, want):
        return trainable.choose(plan, want.layers)

    def resolve(self, plan, stage, ops, want):
        steps = want.steps or stage["steps"]
        return dict(stage, ops=ops, lo=ops[0], hi=ops[-1] + 1, first=ops[0], steps=steps)

    def trains(self, spec):
        return [(op, bits(spec)) for op in spec["ops"]]

    def memory(self, plan, spec, state):
        needs = {"activations": planner.layout(plan, spec["first"]), "buffers": tables(spec)}
        if shares(spec):
            if plan[L.op_base(spec["first"]) + L.KIND] == L.DENSE:
                needs["buffers"] = 8 * L.KEPT
        sizes = self.buffers(plan, spec, state)
        if sizes:  # an array is made from a bytearray of its length
            needs["buffers"] += sum(sizes) + max(sizes)
            needs["passing"] = max(sizes)
        return needs

    def buffers(self, plan, spec, state):
        """Bytes of each buffer that a stage takes beyond what the kernels need."""
        if not (copies(spec) or shaped(spec)):
            return []
        most = channels = 0
        for i in range(spec["lo"], spec["hi"]):
            if planner.is_weighted(plan, L.op_base(i)):
                most = max(most, planner.weights(plan, i))
        for o in planner.bases(plan):
            channels = max(channels, plan[o + L.OUT_C])
        sizes = []
        if spec.get("factors"):
            sizes.append(2 * channels * len(spec["ops"]))
        if spec.get("mask"):
            sizes += [2 * most, 2 * most]  # of the perturbation, and of the update
        elif spec.get("factors"):
            sizes.append(2 * most)
        if spec.get("round") in ("nearest", "stochastic"):
            sizes.append(max(most, 4 * channels))
        if copies(spec):
            sizes.append(state)
        return sizes

    def work(self, plan, spec, samples):
        n = plan[L.N_OPS]
        steps, probes, each = spec["steps"], spec["probes"], spec["samples"]
        seen = steps * each * (1 if shares(spec) else probes)
        measured = steps * each * probes
        yield ("prefix", spec["first"], min(seen, samples))
        moved = spec["ops"]
        if spec["by_layer"]:
            moved = [max(moved, key=lambda op: planner.weights(plan, op))]
        yield ("pass", spec["first"], n, measured * (2 if spec["antithetic"] else 1), moved)
        if not spec["antithetic"]:
            # statistics over the samples of a probe need a clean pass for every probe
            clean = measured if spec.get("seen", -1) >= 0 else seen
            yield ("pass", spec["first"], n, clean, ())
            measured += clean
        yield ("sample", measured)
        for op in moved:
            yield ("update", op, steps * probes)
        coefs = probes * (2 if spec.get("guided") else 1)
        yield ("record", 2 * coefs, steps)

    def modules(self, spec):
        names = ("methods.zeroth_order", "zo.probe", "zo.update")
        if copies(spec):
            names += ("zo.perturbed_copy", "zo.objective")
        if shaped(spec):
            names += ("zo.shaped_update",)
        for key, name in (("mask", "zo.masks"), ("factors", "zo.factors")):
            if spec.get(key):
                names += (name,)
        if spec.get("guided") or spec.get("sharp"):
            names += ("zo.last_step",)
        return names

    def objective(self, run, spec):
        from ..zo.objective import CrossEntropy

        return CrossEntropy(run.model)

    def stage(self, run, spec, seed, rider=None):
        from .zeroth_order import ZerothOrder

        model = run.model
        gathers = False
        if copies(spec):
            from ..zo.perturbed_copy import Copy

            objective = self.objective(run, spec)
            gathers = objective.gathers
            probe = Copy(model, spec, seed, objective, minus_last=rider is not None)
        else:
            from ..zo.probe import KernelSigns

            probe = KernelSigns(model, spec, seed, shares(spec))
        if shaped(spec):
            from ..zo.shaped_update import ShapedUpdate as Update
        else:
            from ..zo.update import KernelUpdate as Update
        update = Update(model, spec, seed)
        return ZerothOrder(run, spec, seed, probe, update, rider, gathers)
