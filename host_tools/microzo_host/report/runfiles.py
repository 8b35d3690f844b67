"""The files of a run in a folder, under the names that train.py gives them."""

import dataclasses
import pathlib

JOURNAL, MODEL, ADAPTED = "train.journal", "model.safetensors", "adapted.safetensors"


@dataclasses.dataclass(frozen=True)
class Files:
    """Paths; data, test: pairs of samples and labels; test and adapted may be None."""

    journal: pathlib.Path
    model: pathlib.Path
    data: tuple
    test: tuple | None = None
    adapted: pathlib.Path | None = None


def find(folder, journal=None, model=None, data=None, test=None, adapted=None):
    """The Files of a run; what is given is taken, the rest is looked for in the folder (a model
    also beside it). FileNotFoundError in a sentence."""
    folder = None if folder is None else pathlib.Path(folder)
    journal = journal or _journal(folder)
    model = model or _there(folder, (MODEL, f"../{MODEL}"), "--model")
    data = data or _pair(folder, "train") or _pair(folder, "") or _missing(
        folder, "train_x.npy", "--data"
    )  # fmt: skip
    test = test or _pair(folder, "test")
    if adapted is None and folder is not None and pathlib.Path(journal).name == JOURNAL:
        beside = folder / ADAPTED
        adapted = beside if beside.is_file() else None
    return Files(journal, model, data, test, adapted)


def _journal(folder):
    if folder is None:
        raise FileNotFoundError("no run is named: give its folder, or --journal, --model, --data")
    usual = folder / JOURNAL
    others = sorted(folder.glob("*.journal"))
    if usual.is_file():
        return usual
    if len(others) == 1:
        return others[0]
    if others:
        names = ", ".join(path.name for path in others)
        raise FileNotFoundError(f"{folder} has {names}: choose one by --journal")
    return _missing(folder, JOURNAL, "--journal")


def _there(folder, names, option):
    for name in names if folder is not None else ():
        if (folder / name).is_file():
            return folder / name
    return _missing(folder, names[0], option)


def _pair(folder, part):
    if folder is None:
        return None
    pair = tuple(folder / f"{part}_{axis}.npy".lstrip("_") for axis in "xy")
    return pair if all(path.is_file() for path in pair) else None


def _missing(folder, name, option):
    where = "there is no folder of a run" if folder is None else f"{folder} has no {name}"
    raise FileNotFoundError(f"{where}: name the file by {option}, or `microzo pull` it")
