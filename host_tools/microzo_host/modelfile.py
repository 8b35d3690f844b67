"""The model file of SPEC.md section 3: writer, reader and all validations.

A ``Model`` is what the file says in Python terms: header integers, one ``Op``
per operator with its record's integers and arrays. ``write`` lays the arrays
out in the blob and forms the plan; ``read`` checks everything and gives the
same ``Model`` back.
"""

import dataclasses
import json
import zlib

import numpy as np

from . import safetensors

MAGIC, MAJOR, MINOR = 0x006F7A6D, 1, 0
HEADER_WORDS, OP_WORDS = 32, 48
CONV, DWCONV, DENSE, AVGPOOL, MAXPOOL, ADD, PAD = range(1, 8)
WEIGHTED = (CONV, DWCONV, DENSE)
KIND_NAMES = dict(enumerate("conv depthwise dense avgpool maxpool add pad".split(), 1))
EMIT_LOGITS = 1
HAS_STATS = 1
LIMIT = 1 << 30  # accumulators stay below this, see SPEC.md 1.2

# Word numbers of the plan (SPEC.md section 3).
HEADER = {
    "n_ops": 3, "n_tensors": 4, "in_h": 5, "in_w": 6, "in_c": 7, "classes": 8, "in_tensor": 9,
    "out_tensor": 10, "in_zp": 11, "table_off": 12, "logit_mult": 13, "logit_shift": 14,
    "blob_len": 15, "flags": 16, "blob_crc": 17, "plan_crc": 18,
}  # fmt: skip
RUN_TIME = (*range(20, 26),)
OP_FIELDS = {
    "kind": 0, "flags": 1, "tid": 2, "in1": 3, "in2": 4, "out": 5,
    "in_h": 9, "in_w": 10, "in_c": 11, "out_h": 12, "out_w": 13, "out_c": 14,
    "k_h": 15, "k_w": 16, "s_h": 17, "s_w": 18, "p_t": 19, "p_b": 20, "p_l": 21, "p_r": 22,
    "in_zp": 23, "in2_zp": 24, "out_zp": 25, "act_min": 26, "act_max": 27,
    "f": 35, "b_max": 36, "eps_w": 37, "eps_b": 38,
    "mult1": 42, "shift1": 43, "mult2": 44, "shift2": 45, "mult": 46, "shift": 47,
}  # fmt: skip
# Word of the offset, attribute, dtype; arrays of one output channel count.
ARRAYS = (
    (28, "weight", "i1"), (29, "bias", "<i4"), (30, "mults", "<i4"), (31, "shifts", "i1"),
    (32, "lmults", "<i4"), (33, "lshifts", "i1"), (34, "stats", "<i4"),
)  # fmt: skip
STATE_WORDS = (39, 40, 41)


@dataclasses.dataclass
class Op:
    """One operator record; fields are SPEC.md's words in lower case.

    weight int8 OHWI (dense: O, 1, 1, K), bias int32 (O,), mults int32 (O,),
    shifts int8 (O,), lmults and lshifts the same for EMIT_LOGITS, stats int32
    (2, O): mean and sd (Q4) of the accumulators on clean data.
    """

    name: str
    kind: int
    flags: int = 0
    tid: int = 0
    in1: int = 0
    in2: int = -1
    out: int = 0
    in_h: int = 1
    in_w: int = 1
    in_c: int = 1
    out_h: int = 1
    out_w: int = 1
    out_c: int = 1
    k_h: int = 1
    k_w: int = 1
    s_h: int = 1
    s_w: int = 1
    p_t: int = 0
    p_b: int = 0
    p_l: int = 0
    p_r: int = 0
    in_zp: int = 0
    in2_zp: int = 0
    out_zp: int = 0
    act_min: int = -128
    act_max: int = 127
    f: int = 0
    b_max: int = 0
    eps_w: int = 0
    eps_b: int = 0
    mult1: int = 0
    shift1: int = 0
    mult2: int = 0
    shift2: int = 0
    mult: int = 0
    shift: int = 0
    weight: np.ndarray = None
    bias: np.ndarray = None
    mults: np.ndarray = None
    shifts: np.ndarray = None
    lmults: np.ndarray = None
    lshifts: np.ndarray = None
    stats: np.ndarray = None

    @property
    def row(self):
        """K: weights per output channel."""
        return self.k_h * self.k_w * (1 if self.kind == DWCONV else self.in_c)


@dataclasses.dataclass
class Model:
    """A quantized network. ``scales`` are the activation tensors' float scales, for people."""

    in_h: int
    in_w: int
    in_c: int
    classes: int
    in_zp: int
    table: np.ndarray  # int8 (256,): raw uint8 sample -> int8 input
    ops: list
    n_tensors: int
    in_tensor: int = 0
    out_tensor: int = 0
    logit_mult: int = 0
    logit_shift: int = 0
    scales: list = dataclasses.field(default_factory=list)
    metadata: dict = dataclasses.field(default_factory=dict)

    @property
    def weights(self):
        """Number of weights."""
        return sum(op.weight.size for op in self.ops if op.weight is not None)


def fraction_bits(op):
    """F of SPEC.md 1.4: the largest f <= 8 that keeps every accumulator below 2^30, or -1."""
    reach = max(127 - op.in_zp, op.in_zp + 128) * op.row
    for f in range(8, -1, -1):
        if ((127 + op.eps_w) * reach + op.b_max) << f < LIMIT:
            return f
    return -1


def write(path, model):
    """Check and write a model file, whole or not at all."""
    check(model, path)
    safetensors.write(path, *_tensors(model))


def pack(model):
    """The bytes of the model file."""
    check(model, "the model")
    return safetensors.pack(*_tensors(model))


def read(path):
    """Read and check a model file; ValueError or OSError in one sentence otherwise."""
    with open(path, "rb") as file:
        return unpack(file.read(), path)


def unpack(raw, path="the model file"):
    """As read(), from bytes; ``path`` only names the file in errors."""
    tensors, metadata = safetensors.unpack(raw, path)
    plan, blob = _plan_and_blob(tensors, path)
    head = {name: int(plan[word]) for name, word in HEADER.items()}
    try:
        graph = json.loads(metadata.get("graph", "[]"))
        names = [str(layer["name"]) for layer in graph]
        scales = [float(s) for s in json.loads(metadata.get("scales", "[]"))]
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path} has a damaged graph in its metadata: make it again") from None
    ops = []
    for i in range(head["n_ops"]):
        record = plan[HEADER_WORDS + i * OP_WORDS :][:OP_WORDS]
        name = names[i] if i < len(names) else f"op{i}"
        ops.append(_read_op(record, name, blob, path))
    model = Model(
        *(head[k] for k in ("in_h", "in_w", "in_c", "classes", "in_zp")),
        table=_slice(blob, head["table_off"], (256,), "i1", "table", path),
        ops=ops,
        **{k: head[k] for k in ("n_tensors", "in_tensor", "out_tensor")},
        **{k: head[k] for k in ("logit_mult", "logit_shift")},
        scales=scales,
        metadata={k: v for k, v in metadata.items() if k not in ("microzo", "graph", "scales")},
    )
    check(model, path)
    return model


def check(model, path):
    """Raise ValueError, one sentence, for the first thing in a model that cannot run."""

    def need(condition, what, cure="make the model again"):
        if not condition:
            raise ValueError(f"{path}: {what}; {cure}")

    need(0 < len(model.ops) <= 255, f"it has {len(model.ops)} operators", "use 1 to 255")
    need(len(model.ops) < model.n_tensors <= 256, f"it has {model.n_tensors} tensors")
    need(model.table.shape == (256,) and model.table.dtype == np.int8, "bad input table")
    sizes = {model.in_tensor: (model.in_h, model.in_w, model.in_c)}
    zero_points = {model.in_tensor: model.in_zp}
    need(all(1 <= n <= 4096 for n in sizes[model.in_tensor]), "bad input shape")
    need(-128 <= model.in_zp <= 127, "the input's zero point is no int8")
    emitters = [op for op in model.ops if op.flags & EMIT_LOGITS]
    need(len(emitters) <= 1, "more than one operator emits logits")
    need(bool(emitters) == (model.logit_mult == 0), "logits are made in two places or in none")
    need(_multiplier(model.logit_mult, model.logit_shift), "bad logit multiplier")
    for op in model.ops:
        _check_op(op, model, sizes, zero_points, need)
    last = model.ops[-1]
    need(model.out_tensor == last.out, "the output is not the last operator's")
    need(1 <= model.classes <= 1024, f"{model.classes} classes", "use 1 to 1024")
    need(sizes[last.out] == (1, 1, model.classes), "the output is not one value per class")
    need(not emitters or emitters[0] is last, "an operator before the last one emits logits")


def _check_op(op, model, sizes, zero_points, need):
    label = f"layer {op.name!r}"
    need(op.kind in KIND_NAMES, f"{label} has unknown kind {op.kind}")
    need(op.flags in (0, EMIT_LOGITS), f"{label} has unknown flags {op.flags}")
    sources = [op.in1] + ([op.in2] if op.kind == ADD else [])
    need(all(s in sizes for s in sources), f"{label} reads a tensor before it is made")
    need(op.kind == ADD or op.in2 == -1, f"{label} has a second input")
    need(0 <= op.out < model.n_tensors and op.out not in sizes, f"{label} writes a used tensor")
    shape = sizes[op.in1]
    if op.kind == DENSE:
        need((op.in_h, op.in_w) == (1, 1), f"{label} is dense but not 1x1")
        shape = (1, 1, int(np.prod(shape)))
    need((op.in_h, op.in_w, op.in_c) == shape, f"{label} expects another input shape")
    need(all(sizes[s] == sizes[op.in1] for s in sources), f"{label} adds two different shapes")
    need(op.in_zp == zero_points[op.in1], f"{label} expects another input zero point")
    need(op.kind != ADD or op.in2_zp == zero_points[op.in2], f"{label}: second zero point differs")
    need(-128 <= op.out_zp <= 127, f"{label}: its output zero point is no int8")
    need(-128 <= op.act_min <= op.act_max <= 127, f"{label} has a bad activation range")
    _check_window(op, label, need)
    if op.kind in WEIGHTED:
        _check_weights(op, label, need)
    if op.kind in (AVGPOOL, MAXPOOL, PAD):
        need(op.out_zp == op.in_zp, f"{label} changes the zero point")
    if op.kind == ADD:
        for mult, shift in ((op.mult1, op.shift1), (op.mult2, op.shift2), (op.mult, op.shift)):
            need(_multiplier(mult, shift), f"{label} has a bad multiplier")
    sizes[op.out] = (op.out_h, op.out_w, op.out_c)
    zero_points[op.out] = op.out_zp


def _check_window(op, label, need):
    pads = (op.p_t, op.p_b, op.p_l, op.p_r)
    need(all(1 <= n <= 255 for n in (op.k_h, op.k_w, op.s_h, op.s_w)), f"{label}: bad window")
    need(all(0 <= p <= 255 for p in pads), f"{label} has pads outside 0 to 255")
    if op.kind == PAD:
        size = op.in_h + op.p_t + op.p_b, op.in_w + op.p_l + op.p_r
    elif op.kind == ADD:
        size = op.in_h, op.in_w
    else:
        need(
            max(op.p_t, op.p_b) < op.k_h and max(op.p_l, op.p_r) < op.k_w,
            f"{label} has pads as large as its window",
        )
        size = (
            (op.in_h + op.p_t + op.p_b - op.k_h) // op.s_h + 1,
            (op.in_w + op.p_l + op.p_r - op.k_w) // op.s_w + 1,
        )
    need(min(size) >= 1 and (op.out_h, op.out_w) == size, f"{label} has a wrong output size")
    if op.kind == DWCONV:
        need(op.out_c >= 1 and op.out_c % op.in_c == 0, f"{label}: no whole channel multiplier")
    elif op.kind not in (CONV, DENSE):
        need(op.out_c == op.in_c, f"{label} changes the number of channels")
    need(op.out_c >= 1, f"{label} has no output channels")


def _check_weights(op, label, need):
    inside = 1 if op.kind == DWCONV else op.in_c
    channels = (op.out_c,)
    shapes = {
        "weight": ((op.out_c, op.k_h, op.k_w, inside), np.int8),
        "bias": (channels, np.int32), "mults": (channels, np.int32), "shifts": (channels, np.int8),
    }  # fmt: skip
    if op.flags & EMIT_LOGITS:
        shapes |= {"lmults": (channels, np.int32), "lshifts": (channels, np.int8)}
    if op.stats is not None:
        shapes["stats"] = ((2, op.out_c), np.int32)
    for name, (shape, dtype) in shapes.items():
        array = getattr(op, name)
        good = array is not None and array.shape == shape and array.dtype == dtype
        need(good, f"{label}: its {name} do not fit")
    for mults, shifts in ((op.mults, op.shifts), (op.lmults, op.lshifts)):
        if mults is not None:
            good = ((mults == 0) | (mults >= 1 << 30)) & (shifts >= -31) & (shifts <= 30)
            need(bool(good.all()), f"{label} has a multiplier that is not normalized")
    need(0 <= op.eps_w <= 127 and 0 <= op.eps_b <= 4096, f"{label}: bad perturbation size")
    need(0 < op.b_max < LIMIT, f"{label}: its bias limit {op.b_max} is out of range")
    need(
        int(np.abs(op.bias.astype(np.int64)).max()) <= op.b_max,
        f"{label} has a bias beyond its limit {op.b_max}",
    )
    need(
        fraction_bits(op) >= 0,
        f"{label} has {op.row} weights per channel and may overflow 32 bits",
        "make it narrower",
    )
    need(op.f == fraction_bits(op), f"{label}: its fraction bits {op.f} are not the largest safe")
    need(op.stats is None or bool((op.stats[1] >= 0).all()), f"{label}: negative deviation")


def _multiplier(mult, shift):
    return (mult == 0 or 1 << 30 <= mult < 1 << 31) and -31 <= shift <= 30


def _tensors(model):
    blob, offset = {}, 0

    def place(name, array):
        nonlocal offset
        start = offset
        blob[name] = array
        offset += array.nbytes
        if offset % 4:
            blob[f"{name}.pad"] = np.zeros(-offset % 4, np.uint8)
            offset += -offset % 4
        return start

    plan = np.zeros(HEADER_WORDS + OP_WORDS * len(model.ops), np.int32)
    plan[:3] = MAGIC, MAJOR, MINOR
    plan[HEADER["table_off"]] = place("table", model.table)
    for i, op in enumerate(model.ops):
        record = plan[HEADER_WORDS + i * OP_WORDS :][:OP_WORDS]
        for field, word in OP_FIELDS.items():
            record[word] = getattr(op, field)
        for word, field, dtype in ARRAYS:
            array = getattr(op, field)
            record[word] = -1
            if array is not None:
                record[word] = place(f"{i}.{field}", array.astype(dtype))
        record[list(STATE_WORDS)] = -1
    for field in HEADER.keys() & {f.name for f in dataclasses.fields(Model)}:
        plan[HEADER[field]] = getattr(model, field)
    plan[HEADER["n_ops"]] = len(model.ops)
    plan[HEADER["blob_len"]] = offset
    has_stats = any(op.stats is not None for op in model.ops)
    plan[HEADER["flags"]] = HAS_STATS if has_stats else 0
    plan[HEADER["blob_crc"]] = _crc(b"".join(a.tobytes() for a in blob.values()))
    plan[HEADER["plan_crc"]] = _crc(plan.tobytes())
    graph = [{"name": op.name, "kind": KIND_NAMES[op.kind], "out": op.out} for op in model.ops]
    metadata = {
        **model.metadata,
        "microzo": f"{MAJOR}.{MINOR}",
        "graph": json.dumps(graph),
        "scales": json.dumps(model.scales),
    }
    return {"plan": plan, **blob}, metadata


def _plan_and_blob(tensors, path):
    names = list(tensors)
    if not names or names[0] != "plan" or tensors["plan"].dtype != np.dtype("<i4"):
        raise ValueError(f"{path} is no microzo model: make one with `microzo quantize`")
    plan = tensors["plan"].copy()
    if len(plan) < HEADER_WORDS or plan[0] != MAGIC:
        raise ValueError(f"{path} is no microzo model: make one with `microzo quantize`")
    if plan[1] != MAJOR:
        raise ValueError(
            f"{path} has model format {plan[1]} but this version reads {MAJOR}: "
            f"use a microzo of that version or make the model again"
        )
    blob = b"".join(tensors[name].tobytes() for name in names[1:])
    crc, plan[HEADER["plan_crc"]] = int(plan[HEADER["plan_crc"]]), 0
    n_ops = int(plan[HEADER["n_ops"]])
    sound = (
        _crc(plan.tobytes()) == crc
        and _crc(blob) == plan[HEADER["blob_crc"]]
        and len(blob) == plan[HEADER["blob_len"]]
        and len(plan) == HEADER_WORDS + OP_WORDS * n_ops
        and not plan[list(RUN_TIME)].any()
    )
    if not sound:
        raise ValueError(f"{path} is damaged (its check sum differs): copy or make it again")
    return plan, blob


def _read_op(record, name, blob, path):
    op = Op(name, **{field: int(record[word]) for field, word in OP_FIELDS.items()})
    if op.kind not in WEIGHTED:
        return op
    if min(op.out_c, op.k_h, op.k_w, op.in_c) < 1:
        raise ValueError(f"{path}: layer {name!r} has an empty shape; make the model again")
    weight = op.out_c, op.k_h, op.k_w, 1 if op.kind == DWCONV else op.in_c
    shapes = {"weight": weight, "stats": (2, op.out_c)}
    for word, field, dtype in ARRAYS:
        if record[word] != -1:
            shape = shapes.get(field, (op.out_c,))
            value = _slice(blob, int(record[word]), shape, dtype, f"{name}.{field}", path)
            setattr(op, field, value)
    return op


def _slice(blob, offset, shape, dtype, name, path):
    count = int(np.prod(shape, dtype=object))
    if offset < 0 or offset % 4 or offset + count * np.dtype(dtype).itemsize > len(blob):
        raise ValueError(f"{path}: {name!r} lies outside the file; make the model again")
    return np.frombuffer(blob, dtype, count, offset).reshape(shape).copy()


def _crc(data):
    """CRC-32 as the int32 it is stored as."""
    crc = zlib.crc32(data)
    return crc - (1 << 32) if crc >> 31 else crc
