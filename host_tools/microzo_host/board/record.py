"""Samples that a script on a board records, as they come over its serial line.

microzo.Recorder prints each between the bytes 2 and 3: shape, classes, label, checksum, the bytes
in base64. Everything else is the script's own output. What does not fit is no sample.
"""

import base64
import binascii
import pathlib

import microzo
from microzo.data.append import Appender

BEGIN = "from microzo.data import recorder; recorder.tell(True)"
END = "recorder.tell(False)"
LONGEST = 1 << 22  # characters of a sample
MOST_CLASSES = 65536
_HEAD, _TAIL = b"\x02mzrec ", b"\x03"


class Samples:
    """Takes a board's output piece by piece; appends the samples in it to x.npy and y.npy of a
    folder, which go on if they are there.

    count: of this run; damaged: those that do not fit, or have a wrong checksum; label: of the
    last sample.
    """

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)
        self._rest = b""
        self._x = self._y = self._what = None
        self.count = self.damaged = 0
        self.label = None

    def feed(self, data):
        """The output without the samples, as far as it is whole."""
        self._rest += data
        shown = b""
        while True:
            before, head, line = self._rest.partition(_HEAD)
            if not head:
                break
            text, tail, after = line.partition(_TAIL)
            if not tail and len(line) <= LONGEST:
                self._rest = head + line
                return shown + before
            shown += before
            self._rest = after
            self._take(text if tail else b"")
        keep = _partial(self._rest)
        self._rest, rest = self._rest[len(self._rest) - keep :], self._rest
        return shown + rest[: len(rest) - keep]

    def rest(self):
        """What is left at the end."""
        return self._rest

    def _take(self, line):
        try:
            *numbers, text = line.decode("ascii").split(" ")
            h, w, c, classes, label, crc = (int(number) for number in numbers)
            sample = base64.b64decode(text, validate=True)
        except (ValueError, binascii.Error):
            self.damaged += 1
            return
        fits = min(h, w, c) > 0 and len(sample) == h * w * c and -1 <= label < classes
        what = (h, w, c), classes, label >= 0
        same = self._what in (None, what) and 0 < classes <= MOST_CLASSES
        if not fits or not same or microzo.kernels().crc32(sample, 0, len(sample)) != crc:
            self.damaged += 1
            return
        self._append(what, sample, label)

    def _append(self, what, sample, label):
        shape, classes, labelled = what
        if self._x is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._x = Appender(str(self._folder / "x.npy"), "u1", shape)
            if labelled:
                kind = "u1" if classes <= 256 else "u2"
                self._y = Appender(str(self._folder / "y.npy"), kind, ())
                self._x.cut(len(self._y))
                self._y.cut(len(self._x))
            self._what = what
        self._x.append(sample)
        if labelled:
            self._y.append(label.to_bytes(1 if classes <= 256 else 2, "little"))
        self.count += 1
        self.label = label if labelled else None

    @property
    def total(self):
        """Samples in the files."""
        return 0 if self._x is None else len(self._x)

    def close(self):
        for file in (self._x, self._y):
            if file is not None:
                file.close()


def _partial(data):
    """Bytes at the end that may be the beginning of a sample."""
    for n in range(min(len(_HEAD) - 1, len(data)), 0, -1):
        if _HEAD.startswith(data[-n:]):
            return n
    return 0
