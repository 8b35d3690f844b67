"""cache_file, journal, adapted, model and data are files of their own, however they are spelt."""

import json
import os

import pytest
import small

import microzo
from microzo.train import paths, settings
from microzo.train.store import checkpoint_paths
from microzo_host.board import emulator, push

SPELLINGS = (
    "{name}", "./{name}", "{folder}/{name}", "sub/../{name}", "{folder}//.//{name}",
    "../{base}/{name}", "{upper}", "{name}/", "{name}. ", "sub/..//./{name}", ".\\\\{name}",
)  # fmt: skip


def spellings(folder, name):
    where = {"folder": folder, "base": folder.name, "name": name, "upper": name.upper()}
    return [text.format(**where) for text in SPELLINGS]


@pytest.fixture
def folder(tmp_path, monkeypatch, model_path):
    (tmp_path / "m.safetensors").write_bytes(open(model_path, "rb").read())
    (tmp_path / "sub").mkdir()
    small.write_data(tmp_path, model_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def refused(use, folder, words):
    before = contents(folder)
    with pytest.raises(ValueError, match=words + ".*give it another name") as raised:
        use()
    assert "\n" not in str(raised.value)
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("name", "what"),
    [("m.safetensors", "model"), ("x.npy", "samples"), ("y.npy", "labels"), ("j", "journal")]
    + [("j" + end, "journal") for end in (".tmp", ".ck0", ".ck1.tmp", ".mark", ".mark.tmp")],
)
def test_a_cache_file_destroys_nothing(folder, name, what):
    data = microzo.Dataset("x.npy", "./y.npy")
    for cache_file in spellings(folder, name):
        model = microzo.load("m.safetensors")
        refused(
            lambda model=model, cache_file=cache_file: microzo.Trainer(
                model, small.short("tail"), journal="./j", cache=0, cache_file=cache_file
            ).run(data),
            folder, f"cache_file .* would destroy the {what} ",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "what"), [("m.safetensors", "model"), ("x.npy", "samples"), ("y.npy", "labels")]
)
def test_a_journal_destroys_nothing(folder, name, what):
    data = microzo.Dataset("x.npy", "y.npy")
    for journal in spellings(folder, name):
        model = microzo.load("sub/../m.safetensors")
        refused_or_there(model, data, folder, what, journal=journal)
        refused_or_there(model, data, folder, what, recipe=None, journal=journal)


def refused_or_there(model, data, folder, what, **options):
    """A file that exists is told before the data are known."""
    before = contents(folder)
    with pytest.raises((ValueError, OSError), match=f"destroy the {what}|exists|cannot open|jour"):
        microzo.Trainer(model, **options).run(data)
    assert contents(folder) == before


def test_checkpoints_of_a_journal_that_are_the_data(folder):
    os.rename("x.npy", "j.ck0")
    os.rename("m.safetensors", "j.mark")
    model = microzo.load("j.mark")
    refused(
        lambda: microzo.Trainer(model, "tail", journal="j"), folder, "destroy the model j.mark"
    )
    os.rename("j.mark", "m.safetensors")
    data = microzo.Dataset("j.ck0", "y.npy")
    trainer = microzo.Trainer(microzo.load("m.safetensors"), "tail", journal="j")
    refused(lambda: trainer.run(data), folder, "journal j would destroy the samples j.ck0")


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_links(folder, link):
    link("m.safetensors", "other")
    link(folder / "x.npy", "sub/x")
    model = microzo.load("m.safetensors")
    words = "cache_file other would destroy the model"
    refused(lambda: microzo.Trainer(model, "tail", cache_file="other"), folder, words)
    trainer = microzo.Trainer(model, "tail", cache_file="sub/x")
    data = microzo.Dataset("x.npy", "y.npy")
    refused(lambda: trainer.run(data), folder, "cache_file sub/x would destroy the samples")


def test_a_link_to_a_folder_and_to_what_is_not_there_yet(folder):
    os.symlink(folder, "here")
    os.symlink("j", "later")
    model = microzo.load("m.safetensors")
    for cache_file in ("here/j", "later"):
        refused(
            lambda name=cache_file: microzo.Trainer(model, "tail", journal="j", cache_file=name),
            folder, f"cache_file {cache_file} would destroy the journal j",
        )  # fmt: skip


def test_files_that_are_apart_are_taken(folder):
    data = microzo.Dataset("x.npy", "y.npy")
    small.train(
        microzo.load("m.safetensors"), data, small.short("tail"), journal="j", cache=0,
        cache_file="sub/j",
    )  # fmt: skip
    assert not os.path.exists("sub/j")
    for other in ("j.cache", "m.safetensors.cache", "jj", "sub/m.safetensors"):
        microzo.Trainer(microzo.load("m.safetensors"), "tail", journal="k", cache_file=other)


@pytest.mark.parametrize("name", ["j", "x.npy", "y.npy", "j.ck0"])
def test_save_overwrites_no_journal_and_no_data(folder, name):
    model = microzo.load("m.safetensors")
    recipe = small.short("tail")
    small.train(model, microzo.Dataset("x.npy", "y.npy"), recipe, journal="j", checkpoint_every=1)
    before = contents(folder)
    for path in (name, "./" + name):
        with pytest.raises(ValueError, match=f"{name} holds a journal or data, no model: save"):
            model.save(path)
    assert contents(folder) == before
    model.save("m.safetensors")
    open("empty", "w").close()
    model.save("empty")


NAMES = {
    "model": "m.safetensors", "train": ("x.npy", "y.npy"), "test": ("t.npy",), "journal": "j",
    "cache_file": None, "adapted": "a.safetensors",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"adapted": "./m.safetensors"}, "adapted ./m.safetensors would destroy the model"),
        ({"adapted": "Y.npy"}, "adapted Y.npy would destroy the train y.npy"),
        ({"adapted": "t.npy"}, "adapted t.npy would destroy the test t.npy"),
        ({"adapted": "j.ck0"}, "adapted j.ck0 would destroy the journal j"),
        ({"adapted": "sub//..//j"}, "adapted sub//..//j would destroy the journal j"),
        ({"cache_file": "a.safetensors.tmp"}, "cache_file .* would destroy the adapted a"),
        ({"cache_file": "./x.npy"}, "cache_file ./x.npy would destroy the train x.npy"),
        ({"journal": "x.npy"}, "journal x.npy would destroy the train x.npy"),
        ({"journal": "m.safetensors"}, "journal m.safetensors would destroy the model m"),
    ],
)
def test_settings_of_a_script(changed, words, folder):
    assert settings.read(NAMES, {})[0] == NAMES
    with pytest.raises(ValueError, match=words):
        settings.read(NAMES, changed)


def test_the_files_beside_a_journal_are_known():
    checked = {name for name, _ in paths._files("journal", "j")}
    for path in ["j", *checkpoint_paths("j")]:
        assert {paths.plain(path), paths.plain(path + ".tmp")} <= checked


def test_a_number_is_no_name(folder):
    with pytest.raises(TypeError, match="cache_file is the name of a file, not 3"):
        microzo.Trainer(microzo.load("m.safetensors"), "tail", cache_file=3)


ON_MICROPYTHON = """
import json
import microzo
model = microzo.load("m.safetensors")
data = microzo.Dataset("x.npy", "y.npy")
for journal, cache_file in json.load(open("pairs.json")):
    try:
        microzo.Trainer(model, "tail", journal=journal, cache_file=cache_file).run(data)
        print(json.dumps([journal, cache_file, "nothing"]))
    except ValueError as e:
        print(json.dumps([journal, cache_file, str(e)]))
"""


@pytest.mark.slow
def test_on_micropython(folder):
    (folder / "script.py").write_text(ON_MICROPYTHON)
    os.link("x.npy", "link")
    names = ("m.safetensors", "x.npy", "y.npy", "j", "j.ck1.tmp")
    pairs = [("j", text) for name in names for text in spellings(folder, name)] + [("j", "link")]
    (folder / "pairs.json").write_text(json.dumps(pairs))
    unix = emulator.Unix(True, path=[push.ROOT / "device"])
    said = unix.run(folder / "script.py", cwd=folder).splitlines()
    told = [json.loads(line) for line in said if line.startswith("[")]
    assert [tuple(line[:2]) for line in told] == pairs
    for journal, cache_file, text in told:
        assert f"cache_file {cache_file} would destroy the " in text, (journal, cache_file, text)
