"""microzo_host.simulate gives a table of pandas."""

import numpy as np
import pytest

import microzo_host
from microzo_host.simulation import results

pandas = pytest.importorskip("pandas", reason="the extra `notebook` is not installed")
QUICK = ("spsa.steps=3", "spsa.probes=2", "samples=20", "spsa.guard=")


def run(model_path, data, folder, **more):
    return microzo_host.simulate(
        "spsa", model=model_path, train=data, test=data, seeds=[2, 5], changes=QUICK,
        cache=folder, **more,
    )  # fmt: skip


def test_a_row_a_run(model_path, data_paths, tmp_path):
    told = []
    progress = lambda *numbers: told.append(numbers)  # noqa: E731
    frame = run(model_path, data_paths, tmp_path, progress=progress)
    assert list(frame.columns) == list(results.COLUMNS)
    assert frame["seed"].tolist() == [2, 5] and frame["steps"].tolist() == [3, 3]
    assert (frame["gain"] == (frame["accuracy"] - frame["before"]).round(3)).all()
    assert told == [(1, 2), (2, 2)]
    arrays = tuple(np.load(path) for path in data_paths)
    same = run(model_path, arrays, tmp_path, progress=progress)
    columns = [name for name in results.COLUMNS if name != "model"]
    pandas.testing.assert_frame_equal(same[columns], frame[columns])
    assert len(told) == 2  # arrays of the same content are the same runs


def test_a_row_a_step(model_path, data_paths, tmp_path):
    frame = run(model_path, data_paths, tmp_path, curves=True)
    assert list(frame.columns) == list(results.STEP_COLUMNS)
    assert frame.groupby("seed")["step"].apply(list).tolist() == [[1, 2, 3]] * 2
    assert (frame["loss"] > 0).all()


def test_the_module_and_the_function_are_two_things():
    from microzo_host.simulation import api

    assert microzo_host.simulate is api.simulate
    with pytest.raises(AttributeError, match="no attribute 'stimulate'"):
        microzo_host.stimulate  # noqa: B018
