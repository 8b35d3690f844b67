"""The model file of SPEC.md section 3: writer, reader and all validations.

A ``Model`` is what the file says in Python terms: header integers, one ``Op``
per operator with its record's integers and arrays. ``write`` lays the arrays
out in the blob and forms the plan; ``read`` checks everything and gives the
same ``Model`` back.
"""

import dataclasses
import json
import math
import zlib

import numpy as np

from microzo.net import check as plancheck
from microzo.net import words as L

from . import patches, safetensors
from .bounds import LIMIT, abs_sum, bound_of_weights, constant_size, fraction_bits
from .fields import ARRAYS, HEADER, KIND_NAMES, RUN_TIME, SHARED, STATE, VALUES

__all__ = ["LIMIT", "abs_sum", "bound_of_weights", "constant_size", "fraction_bits"]
DILATIONS = ("dil_h", "dil_w")  # 1 is 0 in a file
WEIGHTED = (L.CONV, L.DWCONV, L.DENSE)


@dataclasses.dataclass
class Op:
    """One operator record; fields are SPEC.md's words in lower case.

    weight int8 OHWI (dense: O, 1, 1, K), bias int32 (O,), mults int32 (O,),
    shifts int8 (O,), lmults and lshifts the same for EMIT_LOGITS, stats int32
    (2, O): mean and sd (Q4) of the accumulators on clean data. colors int16
    (O(O+1)/2,): what ``colors.roots()`` gives, or None. abs_sum: abs_sum()
    of a layer with so many inputs that it must stay as it is, else 0. weight is also
    the constant operand of ADD and MUL, flat, and the table of LUT.
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
    dil_h: int = 1
    dil_w: int = 1
    abs_sum: int = 0
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
    colors: np.ndarray = None

    @property
    def row(self):
        """K: weights per output channel."""
        return self.k_h * self.k_w * (1 if self.kind == L.DWCONV else self.in_c)


@dataclasses.dataclass
class Model:
    """A quantized network. ``scales`` are the activation tensors' float scales, for people.

    ``covariance``: int32 (K(K+1)/2,), what ``patches.covariance()`` gives, or None.
    """

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
    covariance: np.ndarray = None

    @property
    def weights(self):
        """Number of weights."""
        return sum(op.weight.size for op in self.ops if op.kind in WEIGHTED)


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
    if str(path).lower().endswith((".onnx", ".tflite")):
        raise ValueError(
            f"{path} is no model of microzo yet: `microzo import {path} -o model.safetensors` "
            "makes one"
        )
    with open(path, "rb") as file:
        return unpack(file.read(), path)


def unpack(raw, path="the model file"):
    """As read(), from bytes; ``path`` only names the file in errors."""
    tensors, metadata = safetensors.unpack(raw, path)
    plan, blob = _plan_and_blob(tensors, path)
    head = {field: int(plan[word]) for field, word in HEADER.items()}
    names, scales = _graph(metadata, plan, path)
    ops = []
    for i in range(int(plan[L.N_OPS])):
        record = plan[L.op_base(i) :][: L.OP_WORDS]
        ops.append(_read_op(record, names[i], blob))
        if plan[L.NET_FLAGS] & L.HAS_COLORS and is_colored(ops[-1]):
            shape = (ops[-1].out_c * (ops[-1].out_c + 1) // 2,)
            at = int(record[L.STAT_OFF]) + ops[-1].stats.nbytes
            ops[-1].colors = _slice(blob, at, shape, np.int16)
    model = Model(
        **head,
        table=_slice(blob, int(plan[L.TABLE_OFF]), (256,), np.int8),
        ops=ops,
        scales=scales,
        metadata={k: v for k, v in metadata.items() if k not in ("microzo", "graph")},
    )
    if plan[L.COV_OFF]:
        shape = (patches.length(ops[0]),)
        model.covariance = _slice(blob, int(plan[L.COV_OFF]), shape, np.int32)
    check(model, path)
    return model


def plan(model):
    """The words of its plan, int32 (SPEC.md, section 3)."""
    return _tensors(model)[0]["plan"]


def is_colored(op):
    """Whether an operator has roots of correlations in a file that has any."""
    return op.kind == L.CONV and op.stats is not None and op.out_c <= 64


def check(model, path):
    """Raise ValueError, one sentence, for the first thing in a model that cannot run."""
    for op in model.ops:
        for field, (shape, dtype) in _arrays(op).items():
            array = getattr(op, field)
            if array is None or array.shape != shape or array.dtype != dtype:
                _refuse(path, f"layer {op.name!r} has no {field} of {dtype} {shape}")
    if model.table.shape != (256,) or model.table.dtype != np.int8:
        _refuse(path, "its input table is no int8 of length 256")
    if model.covariance is not None and model.ops:
        shape = (patches.length(model.ops[0]),)
        if model.covariance.shape != shape or model.covariance.dtype != np.int32:
            _refuse(path, f"its covariance of patches is no int32 of length {shape[0]}")
    _validate(plan(model), path)
    zero_points = {model.in_tensor: model.in_zp}
    for op in model.ops:
        expected = [zero_points[op.in1]]
        if op.in2 != -1:
            expected.append(zero_points[op.in2])
        if [op.in_zp, op.in2_zp][: len(expected)] != expected:
            _refuse(path, f"layer {op.name!r} expects another zero point than its input has")
        if op.kind in (L.AVGPOOL, L.MAXPOOL, L.PAD, L.CONCAT) and op.out_zp != op.in_zp:
            _refuse(path, f"layer {op.name!r} changes the zero point, which its kind cannot")
        if op.kind == L.CONCAT and op.in2_zp != op.in_zp:
            _refuse(path, f"layer {op.name!r} joins two zero points")
        zero_points[op.out] = op.out_zp
        if op.kind in WEIGHTED:
            _check_weights(op, path)


def _check_weights(op, path):
    for mults, shifts in ((op.mults, op.shifts), (op.lmults, op.lshifts)):
        if mults is None:
            continue
        if not (((mults == 0) | (mults >= 1 << 30)) & (shifts >= -31) & (shifts <= 30)).all():
            _refuse(path, f"layer {op.name!r} has a multiplier that is not normalized")
    if np.abs(op.bias.astype(np.int64)).max() > op.b_max:
        _refuse(path, f"layer {op.name!r} has a bias beyond its limit {op.b_max}")
    if op.abs_sum and op.abs_sum != abs_sum(op):
        _refuse(path, f"layer {op.name!r} has weights of another sum than {op.abs_sum}")
    if op.f != fraction_bits(op):
        _refuse(path, f"layer {op.name!r} has {op.f} fraction bits, not {fraction_bits(op)}")
    if op.stats is not None and (op.stats[1] < 0).any():
        _refuse(path, f"layer {op.name!r} has a negative deviation")


def _arrays(op):
    """{field: (shape, dtype)} of the arrays an operator must have."""
    if op.kind not in WEIGHTED:
        count = constant_size(op)
        return {"weight": ((count,), np.int8)} if count else {}
    channels = (op.out_c,)
    inside = 1 if op.kind == L.DWCONV else op.in_c
    wanted = {
        "weight": ((op.out_c, op.k_h, op.k_w, inside), np.int8),
        "bias": (channels, np.int32),
        "mults": (channels, np.int32),
        "shifts": (channels, np.int8),
    }
    if op.flags & L.EMIT_LOGITS:
        wanted |= {"lmults": (channels, np.int32), "lshifts": (channels, np.int8)}
    if op.stats is not None:
        wanted["stats"] = (2, op.out_c), np.int32
    if op.colors is not None:
        wanted["colors"] = (op.out_c * (op.out_c + 1) // 2,), np.int16
    return wanted


def _validate(plan, path):
    """The board's own checks of a plan, with the file's name before the sentence."""
    try:
        plancheck.validate(plan.tolist())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _refuse(path, what):
    raise ValueError(f"{path}: {what}; make the model again")


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

    plan = np.zeros(L.HEADER_WORDS + L.OP_WORDS * len(model.ops), np.int32)
    plan[:3] = L.MAGIC_VALUE, L.VERSION_MAJOR, L.VERSION_MINOR
    plan[L.TABLE_OFF] = place("table", model.table)
    for i, op in enumerate(model.ops):
        record = plan[L.op_base(i) :][: L.OP_WORDS]
        for field, word in VALUES.items():
            record[word] = getattr(op, field)
        for field, (word, kinds) in SHARED.items():
            if op.kind in kinds:
                value = getattr(op, field)
                record[word] = 0 if field in DILATIONS and value == 1 else value
        for field, word in ARRAYS.items():
            array = getattr(op, field)
            record[word] = -1 if array is None else place(f"{i}.{field}", array)
        if op.colors is not None:  # right behind the statistics, the last of the arrays
            place(f"{i}.colors", op.colors)
        record[list(STATE)] = -1
    if model.covariance is not None:
        plan[L.COV_OFF] = place("input.covariance", model.covariance)
    for field, word in HEADER.items():
        plan[word] = getattr(model, field)
    plan[L.N_OPS] = len(model.ops)
    plan[L.BLOB_LEN] = offset
    has_stats = any(op.stats is not None for op in model.ops)
    has_colors = any(op.colors is not None for op in model.ops)
    plan[L.NET_FLAGS] = L.HAS_STATS * has_stats | L.HAS_COLORS * has_colors
    plan[L.BLOB_CRC] = _crc(b"".join(a.tobytes() for a in blob.values()))
    plan[L.PLAN_CRC] = _crc(plan.tobytes())
    metadata = {
        **model.metadata,
        "microzo": f"{L.VERSION_MAJOR}.{L.VERSION_MINOR}",
        "graph": json.dumps([_graph_entry(op, model.scales) for op in model.ops]),
    }
    return {"plan": plan, **blob}, metadata


def _graph_entry(op, scales):
    tensors = {"in": op.in1, "out": op.out}
    return {
        "name": op.name,
        "kind": KIND_NAMES.get(op.kind, "?"),
        "scales": {k: scales[t] for k, t in tensors.items() if 0 <= t < len(scales)},
    }


def _graph(metadata, plan, path):
    """(names by operator, scales by tensor) from the metadata; a file may lack either."""
    n_ops = int(plan[L.N_OPS])
    names, scales = [f"op{i}" for i in range(n_ops)], [0.0] * int(plan[L.N_TENSORS])
    try:
        for i, entry in enumerate(json.loads(metadata.get("graph", "[]"))[:n_ops]):
            names[i] = str(entry["name"])
            for key, word in (("in", L.IN), ("out", L.OUT)):
                if key in entry["scales"]:
                    scales[plan[L.op_base(i) + word]] = float(entry["scales"][key])
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError):
        raise ValueError(f"{path} has a damaged graph in its metadata: make it again") from None
    return names, scales


def _plan_and_blob(tensors, path):
    names = list(tensors)
    if not names or names[0] != "plan" or tensors["plan"].dtype != np.dtype("<i4"):
        raise ValueError(f"{path} is no microzo model: make one with `microzo quantize`")
    plan = tensors["plan"].copy()
    if len(plan) < L.HEADER_WORDS or plan[L.MAGIC] != L.MAGIC_VALUE:
        raise ValueError(f"{path} is no microzo model: make one with `microzo quantize`")
    if plan[L.MAJOR] != L.VERSION_MAJOR:
        raise ValueError(
            f"{path} has model format {plan[L.MAJOR]} but this version reads {L.VERSION_MAJOR}: "
            f"use a microzo of that version or make the model again"
        )
    blob = b"".join(tensors[name].tobytes() for name in names[1:])
    crc, plan[L.PLAN_CRC] = int(plan[L.PLAN_CRC]), 0
    n_ops = int(plan[L.N_OPS])
    sound = (
        _crc(plan.tobytes()) == crc
        and _crc(blob) == plan[L.BLOB_CRC]
        and len(blob) == plan[L.BLOB_LEN]
        and len(plan) == L.HEADER_WORDS + L.OP_WORDS * n_ops
        and not plan[list(RUN_TIME)].any()
    )
    if not sound:
        raise ValueError(f"{path} is damaged (its check sum differs): copy or make it again")
    _validate(plan, path)
    return plan, blob


def _read_op(record, name, blob):
    op = Op(name, **{field: int(record[word]) for field, word in VALUES.items()})
    for field, (word, kinds) in SHARED.items():
        if op.kind in kinds:
            value = int(record[word])
            setattr(op, field, max(value, 1) if field in DILATIONS else value)
    if op.kind in WEIGHTED and record[L.STAT_OFF] != -1:
        op.stats = np.empty(0)
    for field, (shape, dtype) in _arrays(op).items():
        setattr(op, field, _slice(blob, int(record[ARRAYS[field]]), shape, dtype))
    return op


def _slice(blob, offset, shape, dtype):
    dtype = np.dtype(dtype).newbyteorder("<")
    return np.frombuffer(blob, dtype, math.prod(shape), offset).reshape(shape).copy()


def _crc(data):
    """CRC-32 as the int32 it is stored as."""
    crc = zlib.crc32(data)
    return crc - (1 << 32) if crc >> 31 else crc
