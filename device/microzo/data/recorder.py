"""Labelled samples from a sensor, kept as they come."""

from .. import misfit
from .labels import check_label
from .sources import MOST

_tells = False


def tell(on):
    """Whether each sample that is recorded is printed, too, for `microzo record`."""
    global _tells
    _tells = on


class Recorder:
    """Appends samples for `model` to the .npy files x and y, which a Dataset reads.

    y: None for samples without labels. Files that are there go on. x None: the last `capacity`
    samples in RAM; the recorder is then a data source itself. `with` or close() ends the files;
    after a power cut, open them again: what was appended is there.
    """

    def __init__(self, x, y, model, capacity=32):
        if not isinstance(capacity, int) or not 1 <= capacity <= MOST:
            raise ValueError("capacity is 1..%d, not %r" % (MOST, capacity))
        if x is None and y is not None or x is not None and x == y:
            raise ValueError(
                "a Recorder has two files, samples first: Recorder('x.npy', 'y.npy', model)"
            )
        self._model = model
        self._buf = bytearray(model.sample_len)
        self._x = self._y = self._ring = None
        if x is None:
            from .ring import Ring

            self._ring = Ring(model, capacity, True)
            return
        from .append import Appender

        self._x = Appender(x, "u1", model.shape)
        if y is not None:
            self._y = Appender(y, "u1" if model.classes <= 256 else "u2", ())
            self._x.cut(len(self._y))
            self._y.cut(len(self._x))
        self._write_counts()

    def __len__(self):
        return len(self._x if self._ring is None else self._ring)

    def __repr__(self):
        where = "in RAM" if self._ring is not None else "in " + self._x.path
        return "%d samples recorded %s" % (len(self), where)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def append(self, x, y=None):
        """Adds a sample: raw bytes, or sensor values (a list or an array of floats) that
        model.encode makes bytes of; y: its class, None where there are no labels."""
        sample = self._sample(x)
        labelled = self._ring is not None or self._y is not None
        if labelled:
            y = check_label(y, self._model.classes)
        if len(self) >= MOST and self._ring is None:
            raise ValueError(
                "%s is full, a data source has at most %d samples: take another name"
                % (self._x.path, MOST)
            )
        if self._ring is not None:
            self._ring.add(sample, y)
        else:
            self._x.append(sample)  # a sample whose label is missing does not count
            if self._y is not None:
                wide = self._model.classes > 256
                self._y.append(bytes((y & 255, y >> 8)) if wide else bytes((y,)))
        if _tells:
            self._tell(sample, -1 if y is None else y)

    def _sample(self, x):
        kind = type(x)
        if kind is bytes or kind is bytearray or kind is memoryview:
            if len(x) != self._model.sample_len:
                raise misfit("of_length", self._model, len(x))
            return x
        return self._model.encode(x, self._buf)

    def _tell(self, sample, label):
        """Shape, classes, label, checksum, the bytes in base64, between the bytes 2 and 3."""
        from binascii import b2a_base64

        m = self._model
        crc = m.k.crc32(sample, 0, len(sample))
        text = b2a_base64(sample).decode().strip()
        numbers = m.shape + (m.classes, label, crc)
        print("\x02mzrec %d %d %d %d %d %d" % numbers, text, end="\x03")

    def sync(self):
        """The files can be read as they are now."""
        self._write_counts()

    def _write_counts(self):
        if self._x is not None:
            self._x.write_count()
        if self._y is not None:
            self._y.write_count()

    def close(self):
        for part in (self._x, self._y):
            if part is not None:
                part.close()

    # a data source, in RAM

    def check(self, model):
        """ValueError if the samples do not fit; those in files are read by a Dataset."""
        self._source().check(model)

    def read_into(self, i, buf):
        return self._source().read_into(i, buf)

    def label(self, i):
        return self._source().label(i)

    labelled = property(lambda self: self._ring is not None or self._y is not None)

    def _source(self):
        if self._ring is None:
            raise ValueError(
                "%s is open for recording: close it, microzo.Dataset reads it" % self._x.path
            )
        return self._ring
