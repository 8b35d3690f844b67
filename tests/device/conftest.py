"""A small model and its data, made once."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import small

import microzo
from microzo.kernel import choice as backend


@pytest.fixture(scope="session")
def model_path(tmp_path_factory):
    return small.write_model(tmp_path_factory.mktemp("model") / "small.safetensors")


@pytest.fixture(scope="session")
def data_paths(tmp_path_factory, model_path):
    return small.write_data(tmp_path_factory.mktemp("data"), model_path)


@pytest.fixture
def model(model_path):
    return microzo.load(model_path)


@pytest.fixture
def data(data_paths):
    source = microzo.Dataset(*data_paths)
    yield source
    source.close()


@pytest.fixture
def with_kernels():
    """with_kernels(module) makes it the kernels until the end of the test."""
    before = backend.kernels()
    yield backend.use
    backend.use(before)
