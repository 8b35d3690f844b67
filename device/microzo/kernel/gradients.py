"""The second native module of a board, which has the gradients.

Native code takes one block of the heap and cannot be freed: it comes with the first use, or before
a run's buffers (train/start.py).
"""

from .. import forget


def load(name):
    """__getattr__ of _microzo; its entries are in _microzo from then on."""
    import _microzo

    if name[:6] == "color_":
        raise AttributeError(
            "the native module has no kernels of recolor: take firmware with the kernels built in"
        )
    try:
        import _microzo_grad
    except ImportError:
        raise AttributeError(
            "_microzo_grad.mpy, which has %s, is not on this board: `microzo push` sends it" % name
        )
    for entry in dir(_microzo_grad):
        if entry[0] != "_":
            setattr(_microzo, entry, getattr(_microzo_grad, entry))
    del _microzo.__getattr__
    forget("kernel.gradients")
    return getattr(_microzo_grad, name)
