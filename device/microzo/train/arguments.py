"""Checks of what a Trainer is given. A board forgets this code at once."""

from ..journal.begin import has_begun
from ..net import trainable
from ..recipes import names
from . import paths


def check(model, recipe, layers, seed, ram, cache, cache_file, options):
    """The recipe as a dict, None for a run that is resumed; options: board_id, journal,
    sync_every, checkpoint_every."""
    board_id, journal, sync_every, checkpoint_every = options
    for name, value, low, high in (
        ("seed", seed, 0, _MOST),
        ("board_id", board_id, 0, 65535),
        ("sync_every", sync_every, 1, _MOST),
        ("checkpoint_every", checkpoint_every, 1, _MOST),
        ("ram", ram or 0, 0, _MOST),
        ("cache", cache or 0, 0, _MOST),
    ):
        number(name, value, low, high)
    if not hasattr(model, "trained"):
        raise TypeError("a Trainer takes what microzo.load gives, not %r" % (model,))
    apart(model, journal, cache_file)
    if recipe is not None:
        if journal is not None and has_begun(model.k, journal):
            raise ValueError(
                "%s exists: microzo.resume(model, journal) continues it, or take another name"
                % journal
            )
        recipe = names.recipe(recipe) if isinstance(recipe, str) else recipe
        names.check(recipe)
        trainable.choose(model.plan, layers)
    if model.trained:
        raise ValueError(
            "the model is trained already: model.reset() starts anew, model.save() keeps it"
        )
    return recipe


_MOST = (1 << 30) - 1


def number(name, value, low=1, high=_MOST):
    """ValueError unless an argument is an integer of low..high."""
    if not isinstance(value, int) or not low <= value <= high:
        raise ValueError("%s is %d..%d, not %r" % (name, low, high, value))


def apart(model, journal, cache_file, data=()):
    """ValueError if a file that the run writes is another one of its files, by any spelling; data:
    (what it is, name) of the files it learns from."""
    paths.check_apart(
        ("cache_file", cache_file), ("journal", journal), ("model", model.path), *data
    )
