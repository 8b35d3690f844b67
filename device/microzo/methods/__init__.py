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


def make(run, spec, seed):
    """The Stage of a resolved spec. run: a stage.Run; seed: of the stage."""
    try:
        return method(spec["kind"]).stage(run, spec, seed)
    finally:
        forget_declarations()
