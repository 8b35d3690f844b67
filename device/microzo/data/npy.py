"""The header of a .npy file; a board forgets this code once a Dataset is open."""

from .. import misfit
from ..board import files


def header(f, path, whole=True):
    """(kind such as "u1", shape, offset of the data) of an open .npy file.

    ValueError if it is none, or holds what cannot be read by offset; OSError if it is cut, unless
    it need not be whole.
    """
    head = bytearray(12)
    n = f.readinto(head)
    if n < 12 or bytes(head[:6]) != b"\x93NUMPY" or head[6] not in (1, 2):
        raise ValueError("%s is not a .npy file of version 1 or 2, save it with numpy.save" % path)
    begin = 10 if head[6] == 1 else 12
    length = head[8] | head[9] << 8
    if begin == 12:
        length |= head[10] << 16 | head[11] << 24
    if length > 65536:
        raise ValueError(
            "%s has a header of %d bytes, save it again with numpy.save" % (path, length)
        )
    text = bytearray(length)
    files.seek(f, begin)
    files.fill(f, text, length, path)
    kind, shape = _parse(bytes(text).decode(), path)
    count = int(kind[1])
    for n in shape:
        count *= n
    have = files.size(path) - begin - length
    if whole and have < count:
        raise OSError("%s is cut (%d of %d bytes of data), copy it again" % (path, have, count))
    return kind, shape, begin + length


def _parse(text, path):
    descr = _field(text, "descr", "'", "'", path)
    order, kind = descr[:1], descr[1:]
    if "'fortran_order': False" not in text:
        raise ValueError("%s is in Fortran order, save numpy.ascontiguousarray of it" % path)
    if order not in "|<" or kind not in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"):
        raise misfit("of_floats", path, order + kind)
    shape = _field(text, "shape", "(", ")", path)
    return kind, tuple(int(n) for n in shape.split(",") if n.strip())


def _field(text, name, begin, end, path):
    at = text.find("'%s':" % name)
    at = text.find(begin, at + len(name) + 3) if at >= 0 else -1
    stop = text.find(end, at + 1) if at >= 0 else -1
    if stop < 0:
        raise ValueError("%s: cannot read its header, save it again with numpy.save" % path)
    return text[at + 1 : stop]
