"""Arrays as samples: of ulab, of NumPy, array and memoryview. Imported when one is given.

uint8 is raw, and is used where it lies; a view whose items do not lie side by side is copied.
Floats and wider integers go through the scale of the model's input. ulab's buffer of a view is not
asked for: ulab takes x[:, ::-1] for dense.
"""

from array import array
from struct import unpack_from

from .. import misfit
from . import words as L

_ULAB = {"B": "uint8", "b": "int8", "H": "uint16", "h": "int16", "f": "float", "d": "float"}
_DOUBTFUL = 8  # one value of so many outside of what the model knows


def is_array(x):
    return hasattr(x, "dtype") or isinstance(x, (bytes, bytearray, array, memoryview))


def kind(x):
    """The name of the type of an array's items: uint8, int8, bool, int16, float ..."""
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        name = _code(x)
    else:
        name = chr(dtype) if isinstance(dtype, int) else str(dtype)
    if "'" in name:
        name = name.split("'")[1]  # ulab's objects
    name = _ULAB.get(name, "int" if name in "iIlLqQ" else name)
    if name == "uint8" and dtype is not None and isinstance(_first(x), bool):
        name = "bool"  # ulab calls it uint8
    return name


def _code(x):
    """The type code of an array without dtype."""
    if isinstance(x, (bytes, bytearray)):
        return "B"
    if not isinstance(x, memoryview):
        return repr(x[:0])[7]  # array('b')
    if hasattr(x, "format"):
        return x.format
    try:  # MicroPython does not tell
        unpack_from("", x, len(x) + 1)
        return "int"
    except Exception:
        return "b" if min(x) < 0 else "B"


def _first(x):
    for n in x.shape:
        if not n:
            return None
        x = x[0]
    return x


def values(name):
    """Whether items of that kind are values, which go through the scale of the input."""
    return name not in ("int8", "uint8") and name.rstrip("0123468") in ("int", "uint", "float")


def shape_of(x):
    return tuple(x.shape) if hasattr(x, "shape") else (len(x),)


def size(shape):
    n = 1
    for side in shape:
        n *= side
    return n


def is_dense(x):
    """Whether the items lie side by side, the last axis first."""
    step = getattr(x, "itemsize", 1)
    if hasattr(x, "strides"):
        for i in range(len(x.shape) - 1, -1, -1):
            if x.shape[i] != 1 and x.strides[i] != step:
                return False
            step *= x.shape[i]
    return True


def flat(x):
    """The bytes of an array of uint8 in their order: where they lie, or a copy of a view."""
    if is_dense(x):
        view = memoryview(x)
        return view.cast("B") if hasattr(view, "cast") else view
    out = bytearray(size(x.shape))
    _gather(x, len(x.shape), out, 0)
    return out


def _gather(x, axes, out, at):
    for v in x:
        if axes > 1:
            at = _gather(v, axes - 1, out, at)
        else:
            out[at] = v
            at += 1
    return at


def _fits(model, x):
    """The kind of an array that has the shape of a sample, or as many items in one axis."""
    shape = shape_of(x)
    takes = model.plan[L.NET_IN_H : L.NET_IN_C + 1]
    if len(shape) > 1 and [n for n in shape if n > 1] != [n for n in takes if n > 1]:
        raise misfit("of_shape", "the array", (1,) + shape, size(shape), model)
    if size(shape) != model.sample_len:
        raise misfit("of_length", model, size(shape))
    return kind(x)


def sample(model, x, views=False):
    """A buffer of the raw bytes of a sample that came as an array or a list: x itself, if it is
    one. views: a view may stay one, for kernels that take it. TypeError, ValueError if x is no
    sample."""
    if not is_array(x):
        return misfit("as_bytes", model, x)
    name = _fits(model, x)
    if name == "uint8":
        return x if views and hasattr(x, "strides") and not is_dense(x) else flat(x)
    if not values(name):
        raise misfit("of_dtype", "the array", name)
    out = model.encode(x)
    check_range(model, model.clipped, model.sample_len)
    return out


def check_range(model, clipped, count):
    """ValueError if so many values were clipped that they are hardly meant for the model."""
    if clipped * _DOUBTFUL > count:
        raise misfit("of_range", model, clipped, count)


def encode(model, x, out):
    """(out, how many values were clipped): the sensor values x as a sample of raw bytes."""
    out = bytearray(model.sample_len) if out is None else out
    if len(out) != model.sample_len:
        raise ValueError(
            "out has %d bytes, a sample of the model %d" % (len(out), model.sample_len)
        )
    name = _fits(model, x) if is_array(x) else "float"
    if name == "uint8":
        memoryview(out)[:] = flat(x)
        return out, 0
    if name == "int8":
        return out, model.encoder().quantized(x, out)
    if not values(name):
        raise misfit("of_dtype", "the array", name)
    return out, model.encoder().encode(x, out)
