"""The tiny network and its runs."""

import pytest
import runs
import tiny


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    return tiny.write(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def run(files, tmp_path):
    return runs.Runs(files, tmp_path)


@pytest.fixture(scope="session")
def wide_files(tmp_path_factory):
    return tiny.write(tmp_path_factory.mktemp("wide"), 40, 60)


@pytest.fixture
def wide_run(wide_files, tmp_path):
    return runs.Runs(wide_files, tmp_path)
