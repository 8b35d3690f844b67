"""The choice of the kernels."""

import struct
import sys
import types
from array import array

import pytest

import microzo
from microzo.kernel import choice as backend
from microzo.kernel import python as pykernels
from microzo.net import words as L
from microzo_host import native
from microzo_host import reference as oracle


def test_native_comes_first():
    assert backend._find() is native


def test_without_the_library_the_oracle_computes_and_says_so(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "microzo_host.native", None)
    monkeypatch.delattr("microzo_host.native")
    assert backend._find() is oracle
    assert "slow" in capsys.readouterr().err


def test_wrong_numbers_are_noticed():
    broken = types.SimpleNamespace(
        __name__="broken", version=oracle.version, requant=oracle.requant, derive=lambda *a: 5
    )
    with pytest.raises(ImportError, match="wrong numbers"):
        backend.use(broken)
    assert backend.kernels() is not broken


def test_another_version_is_refused():
    with pytest.raises(ImportError, match="version 200"):
        backend.use(types.SimpleNamespace(version=lambda: 200))


@pytest.mark.parametrize("mult", [1, (1 << 15) - 1, 1 << 15])
def test_a_spoilt_multiplier_perturbs_biases_alike(mult, model_path, with_kernels):
    """No file that loads has one below 2^30, but memory may be written after that."""
    found = []
    for kernels in (native, pykernels):
        with_kernels(kernels)
        model = microzo.load(model_path)
        model.place([(2, L.BIASES)])
        struct.pack_into("<i", model.blob, model.plan[L.op_base(2) + L.M_OFF], mult)
        out = array("i", (0, 0))
        model.k.input(model.plan, model.blob, model.arena, bytes(range(model.sample_len)))
        params = array("i", (0, 7, 1, 0, L.BIASES, 0, model.ops, 0))
        model.k.probe(model.plan, model.blob, model.state, model.arena, params, out)
        found.append(list(out))
    assert found[0] == found[1] and found[0][0] != found[0][1]


def test_a_spoilt_master_is_exported_alike(model_path, with_kernels):
    found = []
    for kernels in (native, pykernels):
        with_kernels(kernels)
        model = microzo.load(model_path)
        model.place([(2, L.WEIGHTS)])
        at = model.plan[L.op_base(2) + L.MASTER_OFF]
        struct.pack_into("<hh", model.state, at, 32767, -32768)
        out = bytearray(48)
        model.k.export_weights(model.plan, model.state, 2, out)
        found.append(out)
    assert found[0] == found[1] and found[0][:2] == bytes((127, 128))
