"""Settings of train.py: what is refused, and the journal of another run."""

import pytest
import small

import microzo
from microzo.train import settings as choice

DEFAULTS = {"train": ("x.npy", "y.npy"), "test": ("t.npy",), "recipe": "default", "steps": None,
            "seed": 1, "journal": "j", "learn": 1}  # fmt: skip


def test_defaults_file_and_variables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert choice.read(DEFAULTS, {}) == (DEFAULTS, ())
    (tmp_path / "settings.json").write_text('{"recipe": "tail", "seed": 2}')
    settings, given = choice.read(DEFAULTS, {"seed": 3, "_x": 1, "DEFAULTS": 2, "f": len})
    assert (settings["recipe"], settings["seed"], sorted(given)) == ("tail", 3, ["recipe", "seed"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"recepie": "tail"}', r"settings.json has a 'recepie': did you mean \"recipe\""),
        ('{"zzz": 1}', "there are journal, learn"),
        ("{'recipe': 'tail'}", "settings.json is no JSON: names and texts stand in double quotes"),
        ("[1]", "settings.json holds one object"),
    ],
)
def test_files_that_are_refused(text, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.json").write_text(text)
    with pytest.raises(ValueError, match=words):
        choice.read(DEFAULTS, {})


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"trian": ("x.npy",)}, 'there is no setting trian: did you mean "train"'),
        ({"train": "x.npy"}, r'train is the files of .*\("train_x.npy", "train_y.npy"\)'),
        ({"train": ("a", "b", "c")}, "train is the files of"),
    ],
)
def test_variables_that_are_refused(variables, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=words):
        choice.read(DEFAULTS, variables)


def test_variables_that_are_none_are_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    choice.read(DEFAULTS, {"learning_rate": 0.1})
    assert capsys.readouterr().out == "these variables are no settings: learning_rate\n"


@pytest.mark.parametrize("finished", [True, False])
def test_the_journal_of_another_run(finished, tmp_path, model_path, data):
    path = str(tmp_path / "j")
    steps = microzo.Trainer(microzo.load(model_path), small.short("head"), journal=path).run(data)
    for _ in steps:
        if not finished:
            break
    trainer = microzo.resume(microzo.load(model_path), path)
    trainer.run(data)
    assert trainer.finished is finished
    same = dict(DEFAULTS, recipe="head")
    choice.check_journal(trainer, same, ("recipe", "seed"))
    other = dict(same, recipe="spsa", seed=2)
    words = (
        "is of a run with recipe head, seed 1, the settings ask for recipe spsa, seed 2: delete"
    )
    with pytest.raises(ValueError, match=words):
        choice.check_journal(trainer, other, ("recipe", "seed"))
    with pytest.raises(ValueError, match="the settings ask for steps 99"):
        choice.check_journal(trainer, dict(same, steps=99), ("steps",))
    if finished:
        with pytest.raises(ValueError, match="recipe spsa"):
            choice.check_journal(trainer, other, ())
    else:
        choice.check_journal(trainer, other, ())  # defaults: it goes on
