"""What is free, and errors that say it."""

import gc


class Compact:
    """`with Compact():` collects often, so that what stays lies together at the bottom of the
    heap and makes no holes between the large buffers."""

    def __enter__(self):
        if hasattr(gc, "threshold") and hasattr(gc, "mem_free"):
            self._before = gc.threshold()
            gc.collect()
            gc.threshold(2048)

    def __exit__(self, *_):
        if hasattr(gc, "threshold") and hasattr(gc, "mem_free"):
            gc.threshold(self._before)


_DEEP = 16  # calls, about 3 KB of stack


def _overwrite_stack(n=_DEEP):
    """The collector takes what looks like a pointer for one: what calls have left on the stack
    keeps whole modules that are gone."""
    if n:
        _overwrite_stack(n - 1)


def free():
    """Free bytes of the Python heap after a collection; None where there is no limit to speak of
    (CPython)."""
    if not hasattr(gc, "mem_free"):
        return None
    _overwrite_stack()
    gc.collect()
    return gc.mem_free()


def largest():
    """Largest bytearray that can be had now, to about 2 %; None on CPython."""
    high = free()
    if high is None:
        return None
    low = 0
    while high - low > 64 + (low >> 6):
        middle = (low + high) >> 1
        try:
            bytearray(middle)
            low = middle
        except MemoryError:
            high = middle
        gc.collect()
    return low


def too_little(what, needed):
    """A MemoryError that names what is needed and what there is."""
    return MemoryError(
        "too little memory for %s: needs %d bytes, free %s, largest block %s"
        % (what, needed, free(), largest())
    )


def take(what, n):
    """bytearray(n), or the error of too_little."""
    try:
        return bytearray(n)
    except MemoryError:
        raise too_little(what, n)
