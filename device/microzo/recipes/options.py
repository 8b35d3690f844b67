"""Optional settings of spsa, elastic and entropy stages (see recipes.py): what they may be, what
they need.

A stage without any of them runs as it always did and its journal says nothing of them. With one,
its STAGE record is LENGTH bytes longer (SPEC.md, section 5).
"""

from ..journal import record
from ..net import arena as planner
from ..net import words as L

MASKS = ("", "random", "channel", "small", "large")
DIRECTIONS = ("sign", "gauss")
ROWS = ("", "qas", "kernel")
ROUNDS = ("", "nearest", "stochastic", "feedback")
PICKS = ("", "gradient", "test")
NAMES = {"mask": MASKS, "direction": DIRECTIONS, "rows": ROWS, "round": ROUNDS, "pick": PICKS}
RANGES = {
    "one_in": (2, 255),
    "guided": (0, 1),
    "sharp": (0, 64),
    "top": (1, 255),
    "macs": (0, (1 << 30) - 1),
}
LENGTH = 8
_ELASTIC, _ENTROPY = 5, 7  # kinds in a STAGE record

_AT = record.HEADER + 16  # where the settings are in a STAGE record


def check(kind, stage):
    """ValueError for settings that do not go together."""
    if stage.get("guided") or stage.get("sharp"):
        key = "guided" if stage.get("guided") else "sharp"
        if kind != "spsa" or stage["sides"] != 2 or stage["by_layer"] or stage.get("share"):
            raise ValueError(
                "%s: %s needs an spsa stage with sides 2, by_layer 0, share 0" % (kind, key)
            )
        if stage["probes"] > 32:
            raise ValueError("%s: %s takes at most 32 probes" % (kind, key))
    for key in ("mask", "rows", "round"):
        if stage.get(key) and not stage["what"] & L.WEIGHTS:
            raise ValueError("%s: %s is for weights, what is %d" % (kind, key, stage["what"]))
    finest = 6 if stage.get("direction") == "gauss" else 8
    if stage["eps_shift"] > finest:
        raise ValueError(
            "%s: with these settings eps_shift is at most %d, not %d"
            % (kind, finest, stage["eps_shift"])
        )
    if "one_in" in stage and not stage.get("mask"):
        raise ValueError("%s: one_in needs a mask" % kind)
    if stage.get("pick") and kind != "spsa":
        raise ValueError("%s: pick is for spsa" % kind)
    if ("top" in stage or "macs" in stage) and not stage.get("pick"):
        raise ValueError("%s: top and macs need a pick" % kind)


def code(spec):
    """Modules that a shaped stage needs."""
    found = ("net.one_operator", "zo.directions", "zo.probe", "zo.update")
    for key, name in (("mask", "zo.masks"), ("rows", "zo.factors"), ("guided", "zo.last_step")):
        if spec.get(key):
            found += (name,)
    return found


def prober(model, rec):
    """What perturbs in the kernel's place in the stage of a STAGE record with settings, or
    None."""
    settings = Settings(model, rec)
    kind = rec[record.HEADER]
    if not settings.probing and kind != _ENTROPY:
        return None
    from ..zo.probe import Prober

    return Prober(model, settings, kind == _ELASTIC)


def put(rec, stage):
    """Writes the settings into a STAGE record."""
    rec[_AT] = MASKS.index(stage.get("mask", ""))
    rec[_AT + 1] = stage.get("one_in", 10)
    rec[_AT + 2] = DIRECTIONS.index(stage.get("direction", "sign"))
    rec[_AT + 3] = ROWS.index(stage.get("rows", ""))
    rec[_AT + 4] = ROUNDS.index(stage.get("round", ""))
    rec[_AT + 5] = stage["eps_shift"]
    rec[_AT + 6] = stage.get("sharp", 0)
    rec[_AT + 7] = stage.get("guided", 0)


class Settings:
    """What `put` wrote, and the operators it is about; made from a STAGE record."""

    def __init__(self, model, rec):
        at = record.HEADER
        self.what = rec[at + 1]
        self.seed = record.get32(rec, at + 4)
        self.mask = MASKS[rec[_AT]]
        self.one_in = rec[_AT + 1]
        self.gauss = rec[_AT + 2] == 1
        self.rows = ROWS[rec[_AT + 3]]
        self.round = ROUNDS[rec[_AT + 4]]
        self.eps_shift = rec[_AT + 5]
        self.sharp = rec[_AT + 6]
        self.guided = rec[_AT + 7]
        self.ops = bytes(trained(model.plan, rec[at + 2], rec[at + 3], self.what))

    @property
    def probing(self):
        """True if the perturbation itself is not that of the kernels."""
        return bool(self.mask or self.gauss or self.sharp or self.guided or self.eps_shift)


def trained(plan, lo, hi, what):
    """Operators of lo..hi-1 whose weights an update moves."""
    return [
        i for i in range(lo, hi) if what & L.WEIGHTS and plan[L.op_base(i) + L.MASTER_OFF] >= 0
    ]


def needs(plan, stage, state):
    """Bytes a shaped stage takes; state: bytes of the trained values."""
    found = buffers(plan, stage, state)
    return sum(found) + max(found)  # an array is made from a bytearray of its length


def buffers(plan, stage, state):
    """Bytes of each buffer of a shaped stage."""
    most = channels = 0
    for i in range(stage["lo"], stage["hi"]):
        o = L.op_base(i)
        if planner.is_weighted(plan, o):
            most = max(most, plan[o + L.OUT_C] * planner.row_len(plan, o))
    for o in planner.bases(plan):
        channels = max(channels, plan[o + L.OUT_C])
    found = [1024]
    if stage.get("mask"):
        found += [2 * most, 2 * most]  # of the perturbation, and of the update
    elif stage.get("rows"):
        found.append(2 * most)
    if stage.get("round") in ("nearest", "stochastic"):
        found.append(max(most, 4 * channels))
    if any(stage.get(key) for key in ("mask", "guided", "sharp", "eps_shift")) or (
        stage.get("direction") == "gauss" or stage["kind"] == "entropy"
    ):
        found.append(state)
    if stage["kind"] == "entropy":
        found.append(48 * channels)
    return found
