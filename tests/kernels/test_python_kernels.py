"""The kernels in Python take little memory: code when it is needed, tensors as bytes."""

import pathlib

import pytest

import microzo
from microzo_host.board import emulator
from microzo_host.demo import prepare

DEVICE = pathlib.Path(__file__).parents[2] / "device"
PREDICT = b"""
import sys, microzo
m = microzo.load(sys.argv[1])
print(m.predict(bytes(m.sample_len)), list(m.logits()))
print(sorted(n[22:] for n in sys.modules if n.startswith("microzo.kernel.python.")))
"""
LATE = b"""
from microzo.kernel import python
for name in sorted(python.LATE):
    print(name)
    assert all(callable(getattr(python, other)) for other in (name, "node", "loss", "requant"))
    assert type(getattr(python, name)) is type(python.version)
"""


def said(heap, code, *arguments):
    text = emulator.Unix(heap=heap, path=[DEVICE]).run(code, *arguments)
    return [line for line in text.splitlines() if not line.startswith("microzo:")]


@pytest.mark.slow
def test_the_demo_network_fits_a_small_heap_and_loads_only_its_operators(tmp_path):
    """Half of this is what a board takes, whose words are 32 bits."""
    path, *_ = prepare.model("mnist", tmp_path)
    model = microzo.load(str(path))
    expected = f"{model.predict(bytes(model.sample_len))} {list(model.logits())}"
    line, modules = said("180K", PREDICT, path)
    assert line == expected
    assert "conv" in modules and "pool" in modules
    assert not any(name in modules for name in ("elementwise", "update", "gradient", "stats"))


def test_every_late_function_is_one_whatever_was_imported_before():
    assert len(said("1M", LATE)) == 17
