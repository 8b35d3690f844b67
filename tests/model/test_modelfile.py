"""The model file: round trip, the words of SPEC.md, damaged and altered files."""

import dataclasses
import json
import struct
import zlib

import networks
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microzo.net import words as L
from microzo_host.model import file as modelfile
from microzo_host.model import quantize, safetensors
from microzo_host.reference import batch


@pytest.fixture(scope="module")
def model():
    net = networks.residual()
    return quantize.quantize(net, networks.images(64, net.input_shape))


@pytest.fixture(scope="module")
def raw(model):
    return modelfile.pack(model)


def _same(a, b):
    for left, right in zip(a.ops, b.ops, strict=True):
        for field in dataclasses.fields(modelfile.Op):
            x, y = getattr(left, field.name), getattr(right, field.name)
            assert np.array_equal(x, y) if isinstance(x, np.ndarray) else x == y, field.name
    for field in dataclasses.fields(modelfile.Model):
        if field.name not in ("ops", "table", "covariance"):
            assert getattr(a, field.name) == getattr(b, field.name), field.name
    assert np.array_equal(a.table, b.table)
    assert np.array_equal(a.covariance, b.covariance)


def test_round_trip(tmp_path, model, raw):
    path = tmp_path / "m.safetensors"
    modelfile.write(path, model)
    assert path.read_bytes() == raw and list(tmp_path.iterdir()) == [path]
    again = modelfile.read(path)
    _same(model, again)
    assert modelfile.pack(again) == raw


def test_layout_of_the_file(raw):
    (length,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8 : 8 + length])
    assert (8 + length) % 8 == 0
    entries = [(k, v) for k, v in header.items() if k != "__metadata__"]
    assert entries[0][0] == "plan" and entries[0][1]["dtype"] == "I32"
    end = 0
    for name, entry in entries:
        assert entry["data_offsets"][0] == end, name
        end = entry["data_offsets"][1]
        assert name.endswith(".pad") or end % 4 == 0 or f"{name}.pad" in header
    assert 8 + length + end == len(raw)
    plan = np.frombuffer(raw, "<i4", L.op_base(10), 8 + length).copy()
    blob = raw[8 + length + plan.nbytes :]
    assert plan[L.MAGIC] == 0x006F7A6D and plan[L.N_OPS] == 10 and plan[L.BLOB_LEN] == len(blob)
    assert np.uint32(plan[L.BLOB_CRC]) == zlib.crc32(blob)
    crc = np.uint32(plan[L.PLAN_CRC])
    plan[L.PLAN_CRC] = 0
    assert crc == zlib.crc32(plan.tobytes())
    assert (plan[list(modelfile.RUN_TIME)] == 0).all()
    table = np.frombuffer(blob, np.int8, 256, plan[L.TABLE_OFF])
    assert (table == np.arange(256) - 128).all()
    for i in range(10):
        op = plan[L.op_base(i) :][: L.OP_WORDS]
        assert op[L.TID] == i and (op[[L.MASTER_OFF, L.BIAS_OFF, L.MS_OFF]] == -1).all()


def test_every_truncation_is_refused(raw, tmp_path):
    path = tmp_path / "cut.safetensors"
    for end in [*range(0, 64), *range(64, len(raw), 97), len(raw) - 1]:
        path.write_bytes(raw[:end])
        with pytest.raises(ValueError, match="cut.safetensors") as error:
            modelfile.read(path)
        assert "\n" not in str(error.value)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_every_altered_byte_of_the_data_is_refused(raw, data):
    (length,) = struct.unpack_from("<Q", raw)
    at = data.draw(st.integers(8 + length, len(raw) - 1))
    changed = bytearray(raw)
    changed[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ValueError, match="the model file"):
        modelfile.unpack(bytes(changed))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_an_altered_header_never_crashes(raw, model, data):
    (length,) = struct.unpack_from("<Q", raw)
    at = data.draw(st.integers(0, 7 + length))
    changed = bytearray(raw)
    changed[at] = data.draw(st.integers(0, 255))
    try:
        found = modelfile.unpack(bytes(changed))
    except ValueError:
        return
    assert all(
        np.array_equal(a.weight, b.weight) for a, b in zip(found.ops, model.ops, strict=True)
    )


@pytest.mark.parametrize("text", [b"", b"short", b"PK\3\4 a zip file, not a model", b"\0" * 4000])
def test_other_files(tmp_path, text):
    path = tmp_path / "other"
    path.write_bytes(text)
    with pytest.raises(ValueError, match="other .*safetensors|other is no microzo model"):
        modelfile.read(path)


def test_safetensors_that_are_no_model(tmp_path):
    path = tmp_path / "weights.safetensors"
    safetensors.write(path, {"w": np.zeros(3, np.float32)}, {})
    with pytest.raises(ValueError, match="no microzo model.*microzo quantize"):
        modelfile.read(path)


def test_a_later_version_is_refused(model):
    tensors, metadata = modelfile._tensors(model)
    tensors["plan"][L.MAJOR] = 2
    with pytest.raises(ValueError, match="model format 2 but this version reads 1"):
        modelfile.unpack(safetensors.pack(tensors, metadata))


def _change_op(index, **fields):
    def change(model):
        for name, value in fields.items():
            setattr(model.ops[index], name, value)

    return change


@pytest.mark.parametrize(
    "change, message",
    [
        (_change_op(1, kind=99), "unknown"),
        (_change_op(1, out_h=5), "output size|shape"),
        (_change_op(3, in_zp=5), "zero point"),
        (_change_op(4, in2_zp=77), "zero point"),
        (_change_op(5, out_zp=3), "zero point"),
        (_change_op(4, mult1=5), "multiplier 5"),
        (_change_op(1, in1=7), "nothing wrote"),
        (_change_op(2, f=1), "fraction bits"),
        (_change_op(9, b_max=3), "bias beyond|fraction"),
        (_change_op(9, bias=np.zeros(4, np.int32)), "no bias of"),
        (_change_op(9, mults=np.full(3, 7, np.int32)), "not normalized"),
        (_change_op(1, weight=np.zeros((4, 3, 3, 2), np.int16)), "no weight of"),
        (_change_op(1, act_min=50, act_max=20), "clamp"),
        (lambda m: setattr(m, "classes", 4), "logits"),
        (lambda m: setattr(m, "logit_mult", 1 << 30), "LOGIT_MULT"),
        (lambda m: setattr(m, "n_tensors", 300), "tensors"),
        (lambda m: setattr(m, "table", m.table[:255]), "table"),
    ],
)
def test_a_wrong_model_is_not_written(raw, tmp_path, change, message):
    path = tmp_path / "old.safetensors"
    path.write_bytes(b"keep me")
    model = modelfile.unpack(raw)
    change(model)
    with pytest.raises(ValueError, match=message) as error:
        modelfile.write(path, model)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == b"keep me"


def test_missing_file():
    with pytest.raises(OSError, match="nowhere"):
        modelfile.read("nowhere.safetensors")


def test_a_model_read_back_gives_the_same_logits(model, raw):
    x = networks.images(20, (9, 7, 2), seed=7)
    again = modelfile.unpack(raw)
    assert (batch.logits(model, x) == batch.logits(again, x)).all()
