"""The same package on MicroPython's unix port: no allocation in a step, the host's bits,
resume."""

import pathlib

import pytest
import small

import microzo
from microzo_host import emulator

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="module")
def lines(tmp_path_factory, model_path, data_paths):
    folder = tmp_path_factory.mktemp("unix")
    unix = emulator.Unix(usermod=True, path=[HERE.parents[1] / "device"])
    said = unix.run(HERE / "locked_steps.py", model_path, *data_paths, folder / "run.")
    return said.split("\n")


def test_a_step_allocates_nothing(lines):
    assert len([line for line in lines if line]) == 12


def test_micropython_gives_the_bits_of_cpython(lines, model_path, data_paths):
    data = microzo.Dataset(*data_paths)
    for line in filter(None, lines):
        name, steps, crc = line.split()
        model = microzo.load(model_path)
        small.train(model, data, small.short(name))
        assert int(crc) == small.state_crc(model), name
        assert int(steps) > 0
