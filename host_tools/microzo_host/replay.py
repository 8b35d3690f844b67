"""Rebuilds on the host what a board trained, from the model and the journal, and compares bits."""

import dataclasses
import pathlib
import tempfile

import microzo

from .model import file as modelfile


@dataclasses.dataclass
class Replay:
    """``confirmed``: the journal's final checksum matches (None: the run was not finished).
    ``same_file``: the adapted model file is equal, byte for byte (None: none was given).
    """

    model: object
    confirmed: bool | None
    same_file: bool | None

    @property
    def identical(self):
        """Whether every comparison that could be made holds, and at least one could."""
        made = [c for c in (self.confirmed, self.same_file) if c is not None]
        return bool(made) and all(made)


def replay(model_path, journal_path, data=None, adapted=None):
    """Replay over the C kernels. ``data``: (x.npy, y.npy); ``adapted``: what the board saved."""
    for path in (model_path, adapted):
        if path is not None:
            modelfile.read(path)
    model = microzo.load(str(model_path))
    source = microzo.Dataset(*map(str, data)) if data else None
    confirmed = microzo.replay(model, str(journal_path), source)
    same = None if adapted is None else saved(model) == pathlib.Path(adapted).read_bytes()
    return Replay(model, confirmed, same)


def saved(model):
    """The bytes that ``model.save`` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.safetensors")
        model.save(str(path))
        return path.read_bytes()
