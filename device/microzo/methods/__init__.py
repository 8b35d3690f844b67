"""One file a method: its settings, what it needs and costs, and the stage that runs it."""

import sys


def method(kind):
    """The declaration of a method (declaration.py), imported when it is asked for."""
    try:
        if not kind.replace("_", "").isalpha():
            raise ImportError
        return __import__("microzo.methods." + kind, None, None, ("METHOD",)).METHOD
    except (ImportError, AttributeError):
        raise ValueError("unknown stage %r: microzo/methods has no method of that name" % kind)


def forget_declarations():
    """A board lets go of what declares the methods; the code of their stages stays."""
    from .. import forget

    for name in list(sys.modules):
        # Not endswith() of both at once, which MicroPython 1.24 does not have.
        declares = name.endswith("_method") or name.endswith(".declaration")
        if name.startswith("microzo.methods."):
            if declares or hasattr(sys.modules[name], "METHOD"):
                forget(name[len("microzo.") :])
    for name in ("net.trainable", "zo.settings"):  # what only they use
        forget(name)


def forget_stages():
    """A board lets go of the code of stages; `make` brings back what the next one needs."""
    from .. import forget, leave

    forget_declarations()
    forget("board.integers")  # what only they use
    leave("methods", "methods.stage", "methods.gradient")  # a run holds objects of theirs
    leave("zo")


def unit_steps(model, gradient, conv, samples, batch):
    """step_size.shifts; a board forgets its code at once."""
    from .. import forget
    from .step_size import shifts

    forget("methods.step_size")
    return shifts(model, gradient, conv, samples, batch)


def make(run, spec, seed):
    """The Stage of a resolved spec. run: a stage.Run; seed: of the stage."""
    try:
        return method(spec["kind"]).stage(run, spec, seed)
    finally:
        forget_declarations()
