"""The choice of the kernels."""

import sys
import types

import pytest

from microzo import backend
from microzo_host import native, oracle


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
