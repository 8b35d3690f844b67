"""Makes the object of a stage, its record in the journal, and what applies its records."""

from ..journal import record
from ..net import arena as planner
from ..net import words as L

KINDS = ("?", "realign", "head", "tail", "spsa", "elastic", "node", "entropy", "refilter")
REALIGN = ("realign", "refilter")  # kinds that use all samples, and no labels
GRADIENTS = ("head", "tail", "elastic", "node")  # kinds that fill gradient buffers

_CODE = {
    "realign": ("methods.realign",),
    "refilter": ("methods.realign",),  # its own comes with the stage, and goes
    "spsa": ("methods.zo",),
    "elastic": ("methods.gradient", "methods.step_size", "methods.elastic"),
    "node": ("methods.gradient", "methods.step_size", "methods.node"),
    "entropy": ("methods.zo", "methods.realign", "zo.confidence", "methods.entropy"),
}
_GRAD_CODE = ("methods.gradient", "methods.grad")


def code(spec):
    """Modules that a stage needs."""
    found = _CODE.get(spec["kind"], _GRAD_CODE)
    if shares(spec):
        found += ("methods.shared",)
    if spec["guard"] == "free":
        found += ("train.freeguard",)
    if spec.get("model_wise"):
        found += ("methods.modelwise",)
    if shaped(spec):
        from ..recipes import options

        return found + ("recipes.options",) + options.code(spec)
    return found


def load_code(specs):
    """Imports what the stages need, so that what is free afterwards is free for data."""
    for spec in specs:
        for name in code(spec):
            __import__("microzo." + name, None, None, ("x",))
    __import__("microzo.data.cache")


def shares(spec):
    """True if all probes of a step see the same samples."""
    return spec["kind"] == "spsa" and (spec["sides"] == 1 or bool(spec.get("share")))


def shaped(spec):
    """True if a stage has settings of options.py."""
    return spec["kind"] == "entropy" or any(
        spec.get(key) for key in ("mask", "direction", "rows", "round", "guided", "sharp")
    )


def prober(model, rec):
    """What perturbs in the kernel's place in the stage of a STAGE record, or None."""
    if not _shaped(rec):
        return None
    from ..recipes import options

    return options.prober(model, rec)


def _shaped(rec):
    return record.get16(rec, 2) > 16 and KINDS[rec[record.HEADER]] != "node"


def make(model, spec, opening, node, gradient):
    """The stage: steps, prepare(data, index, label, limit), estimate(step) -> record, loss,
    count, correct. opening: its STAGE record."""
    seed = record.get32(opening, record.HEADER + 4)
    if spec["kind"] == "realign":
        from .realign import Realign

        return Realign(model, spec, seed, node)
    if spec["kind"] == "refilter":
        from .refilter import Refilter

        return Refilter(model, spec, seed, node)
    if spec["kind"] == "spsa":
        if shares(spec):
            from .shared import Shared as Stage
        elif spec.get("guided") or spec.get("sharp"):
            from ..zo.last_step import Guided as Stage
        else:
            from .zo import Zo as Stage
        return Stage(model, spec, seed, node, prober(model, opening))
    if spec["kind"] == "elastic":
        from .elastic import Elastic

        return Elastic(model, spec, seed, node, gradient, prober(model, opening))
    if spec["kind"] == "entropy":
        from .entropy import Entropy

        return Entropy(model, spec, seed, node, prober(model, opening))
    if spec["kind"] == "node":
        from .node import Node

        return Node(model, spec, seed, node, gradient)
    from .grad import Grad

    return Grad(model, spec, seed, node, gradient)


def stage_record(spec, index, seed, node):
    """STAGE: all that applying the stage's records needs; steps and step sizes are still 0."""
    longer = spec["kind"] == "node" or shaped(spec)
    several = spec.get("operators", ())
    rec = record.new(record.STAGE, (24 if longer else 16) + 2 * len(several), node, index)
    at = record.HEADER
    rec[at] = KINDS.index(spec["kind"])
    rec[at + 1] = spec.get("what", 0)
    rec[at + 2] = spec.get("lo", 0)
    rec[at + 3] = spec.get("hi", 0)
    record.put32(rec, at + 4, seed)
    rec[at + 12] = spec.get("conv", -1) & 255
    rec[at + 13] = spec.get("head", -1) & 255
    if spec["kind"] == "node":
        rec[at + 16] = spec["eps"]
        rec[at + 17] = spec["probes"]
        record.put16(rec, at + 18, spec["clip"])
        rec[at + 20] = spec["mode"]
        rec[at + 21] = len(several)
        rec[at + 22] = spec["per_channel"]
        for i in range(len(several)):
            rec[at + 24 + 2 * i] = several[i]
    elif longer:
        from ..recipes import options

        options.put(rec, spec)
    return rec


def _zo_update(model, rec):
    if _shaped(rec):
        from ..zo.update import ShapedUpdate

        return ShapedUpdate(model, rec)
    from .zo import ZoUpdate

    at = record.HEADER
    return ZoUpdate(model, record.get32(rec, at + 4), rec[at + 2], rec[at + 3], rec[at + 1])


class Applier:
    """Applies the records of one stage to a model. gradient: buffers of head and tail, or None."""

    def __init__(self, model, rec, gradient):
        at = record.HEADER
        self._model = model
        self._zo = self._grad = None
        kind = KINDS[rec[at]]
        if kind in ("spsa", "entropy"):
            self._zo = _zo_update(model, rec)
        elif kind == "elastic":
            from .elastic import ElasticUpdate

            self._grad = ElasticUpdate(model, rec, gradient, _zo_update(model, rec))
        elif kind == "node":
            from .node import NodeUpdate

            self._grad = NodeUpdate(model, rec, gradient)
        elif kind not in REALIGN:
            from .grad import GradUpdate

            self._grad = GradUpdate(model, gradient)

    def apply(self, rec, payload):
        """One C call an operator; for GRAD the gradient buffers hold the batch already. payload:
        that of a SET."""
        kind = rec[0]
        if kind == record.ZO:
            self._zo.apply(rec)
        elif kind == record.SET:
            m = self._model
            m.k.assign(m.plan, m.state, record.get16(rec, 10), payload)
        elif kind == record.FILTER:
            _place_filters(self._model, payload)
        else:
            self._grad.apply(rec)

    def replay(self, rec, data, sample):
        """apply, after the batch of a GRAD record was read again from `data`."""
        if self._grad is None:
            self.apply(rec, record.payload(rec))
        elif rec[1] & record.LIVE:
            raise ValueError("this journal was trained on live samples, it cannot be replayed")
        elif data is None:
            raise ValueError(
                "this journal trained with exact gradients, replay needs the same data"
            )
        else:
            self._grad.redo(rec, data, sample)


def _place_filters(model, payload):
    plan = model.plan
    o = L.op_base(0)
    at = plan[o + L.MASTER_OFF]
    if at < 0 or len(payload) != 2 * plan[o + L.OUT_C] * planner.row_len(plan, o):
        raise ValueError("the journal's filters are not those of this model's first operator")
    memoryview(model.state)[at : at + len(payload)] = payload


def _op(octet):
    return octet if octet != 255 else -1


def new_gradient(model, conv, head, several=(), first=-1):
    """Gradient buffers; several: operators whose nodes are perturbed together."""
    if several:
        from .modelwise import Gradients

        return Gradients(model, several, head)
    from .gradient import Gradient

    return Gradient(model, conv, head, first)


def gradient_for(model, rec, old):
    """Gradient buffers for the stage of a STAGE record, zeroed and placed; None if it needs
    none."""
    at = record.HEADER
    kind = KINDS[rec[at]]
    if kind not in GRADIENTS:
        return None
    conv, head = _op(rec[at + 12]), _op(rec[at + 13])
    first = rec[at + 2] if kind == "elastic" else -1
    several = b""
    if kind == "node":
        several = bytes(rec[at + 24 + 2 * i] for i in range(rec[at + 21]))
    if old is None or (old.conv, old.head, old.several) != (conv, head, several):
        if old is not None:
            old.close()  # its buffers make room
        old = new_gradient(model, conv, head, several, first)
    else:
        old.clear()
        old.start(first)
    old.opening = rec
    old.place()
    return old
