"""A journal is trained again and measured: the same last state, whatever the recipe."""

import shutil

import numpy as np
import pytest
import small

import microzo
from microzo.journal import record
from microzo_host.report import trace

CASES = [
    pytest.param(*case, marks=pytest.mark.slow if case[0] in small.LONG else ())
    for case in small.CASES
]


def run(folder, model_path, data, recipe, layers="auto", **options):
    """(path of the journal, Trainer) of a run."""
    model, path = microzo.load(model_path), folder / "run.journal"
    return path, small.train(model, data, recipe, layers=layers, journal=str(path), **options)


@pytest.mark.parametrize(("label", "name", "changes", "layers"), CASES)
def test_every_recipe(label, name, changes, layers, model_path, data, data_paths, tmp_path):
    recipe = small.short(name)
    recipe["stages"][-1].update(changes)
    path, trainer = run(tmp_path, model_path, data, recipe, layers)
    made = trace.trace(model_path, path, data_paths)
    assert made.confirmed is True
    assert bytes(made.model.state) == bytes(trainer.model.state)
    after = [trainer.model.predict(x.tobytes()) for x in np.load(data_paths[0])]
    assert made.predictions[1].tolist() == after
    assert made.points[0].number == 0 and made.points[-1].number == made.steps
    labels = np.load(data_paths[1])
    assert made.points[-1].accuracy == np.mean(np.array(after) == labels)
    assert [s.kind for s in made.stages] == [s["kind"] for s in trainer.program["stages"]]
    assert sum(s.end - s.begin + 1 for s in made.stages) == made.steps


def test_stages_and_their_scores(model_path, data, data_paths, tmp_path):
    path, trainer = run(tmp_path, model_path, data, small.short("default"), seed=2)
    made = trace.trace(model_path, path, data_paths, data_paths)
    for stage, line in zip(made.stages, trainer.outcomes()):
        assert line.startswith(f"{stage.kind} {'kept' if stage.kept else 'rolled back'}")
        before, after = (100 * n / total for n, total in (stage.before, stage.after))
        assert f"{before:.1f} % -> {after:.1f} %" in line
    assert False in [stage.kept for stage in made.stages]  # else it does not show the next
    undone = next(s for s in made.stages if s.kept is False)
    back = [p for p in made.points if p.number == undone.end][-1]
    first = [p for p in made.points if p.number == undone.begin - 1][-1]
    assert (back.loss, back.test_loss) == (first.loss, first.test_loss)


def test_a_run_that_was_cut(model_path, data, data_paths, tmp_path):
    path, _ = run(tmp_path, model_path, data, small.short("default"))
    records = small.records(str(path))
    kinds = [rec[0] for rec in records]
    at = len(kinds) - 1 - kinds[::-1].index(record.STEP)
    cut = tmp_path / "cut.journal"
    shutil.copy(path, cut)
    with open(cut, "r+b") as file:
        file.truncate(path.stat().st_size - sum(map(len, records[at:])))
    made = trace.trace(model_path, cut, data_paths)
    assert made.confirmed is None and made.stages[-1].kept is None
    assert (
        made.stages[-1].end
        == made.steps
        == kinds[:at].count(record.STEP) + kinds.count(record.VALUES)
    )


def test_other_data_are_refused(model_path, data, data_paths, tmp_path):
    path, _ = run(tmp_path, model_path, data, small.short("spsa"))
    np.save(tmp_path / "x.npy", 255 - np.load(data_paths[0]))
    with pytest.raises(ValueError, match="trained with other data"):
        trace.trace(model_path, path, (tmp_path / "x.npy", data_paths[1]))


def test_a_run_of_live_samples_is_traced_where_it_can_be_replayed(
    model_path, data_paths, tmp_path
):
    x, y = map(np.load, data_paths)
    for name, fine in (("realign", True), ("head", False)):
        model, path = microzo.load(model_path), tmp_path / name
        recipe = small.short(name)
        recipe["stages"][0]["guard"] = ""
        trainer = microzo.Trainer(model, recipe, journal=str(path))
        for i in range(48):
            trainer.step(x[i].tobytes(), int(y[i]))
            if trainer.finished:
                break
        if fine:
            assert len(trace.trace(model_path, path, data_paths).points) > 1
        else:
            with pytest.raises(ValueError, match="live samples, it cannot be replayed"):
                trace.trace(model_path, path, data_paths)
