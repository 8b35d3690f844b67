"""What a run really holds: every bytearray and array that its engine reaches, by part of the
plan of memory."""

import types
from array import array

REST = "the rest"
_OPAQUE = (str, bytes, int, type(None), types.ModuleType, types.FunctionType, type)


def taken(engine, data):
    """{part: bytes}, named as in recipes/resolve.needs; the sum of all others under REST."""
    model = engine.run.model
    gradient = engine.run.gradient
    parts = {
        "trained values": [model.state],
        "copy for roll-back": [getattr(engine._store, "_mark", None)],
        "activations": [model.arena],
        "gradients": gradient.buffers() if gradient else [],
        "nodes": [gradient._values, gradient._sums] if gradient else [],
    }
    known = {id(b) for buffers in parts.values() for b in buffers}
    known |= {id(model.blob), id(model.plan), id(data)}
    sizes = {name: sum(map(_bytes, buffers)) for name, buffers in parts.items()}
    return dict(sizes, **{REST: sum(_others(engine, known))})


def _bytes(buffer):
    return 0 if buffer is None else memoryview(buffer).nbytes


def _others(thing, known):
    """Bytes of each buffer below a thing, none twice."""
    waiting = [thing]
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, memoryview):
            thing = thing.obj
        if id(thing) in known or isinstance(thing, _OPAQUE):
            continue
        known.add(id(thing))
        if isinstance(thing, (bytearray, array)):
            yield _bytes(thing)
        elif isinstance(thing, dict):
            waiting += thing.values()
        elif isinstance(thing, (list, tuple, set)):
            waiting += thing
        elif type(thing).__module__.startswith("microzo."):
            waiting += vars(thing).values()
