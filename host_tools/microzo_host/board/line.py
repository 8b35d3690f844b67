"""A serial line to something that may be no board: it waits and listens only for so long."""

import time

from mpremote.transport import TransportError
from mpremote.transport_serial import SerialTransport

MOST_NOISE = 1 << 18  # bytes between two questions that answer none


class Line:
    """The serial object of mpremote, which alone would wait as long as anything comes.

    ``deadline``: when to give up, in the time of time.monotonic(), or None.
    """

    def __init__(self, serial):
        self._serial = serial
        self._left = MOST_NOISE
        self._deadline = None

    def __getattr__(self, name):
        return getattr(self._serial, name)

    def give_up(self, seconds):
        """From now on nothing on the line takes longer in all; None: for ever."""
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def heard(self):
        """What came was expected."""
        self._left = MOST_NOISE

    def inWaiting(self):  # noqa: N802 (pyserial's name)
        self._check()
        return self._serial.inWaiting()

    def read(self, size=1):
        self._check()
        data = self._serial.read(size)
        self._left -= len(data)
        return data

    def write(self, data):
        self.heard()
        return self._serial.write(data)

    def _check(self):
        late = self._deadline is not None and time.monotonic() > self._deadline
        if late or self._left < 0:
            raise TransportError("it sends without end what is no answer")


class Transport(SerialTransport):
    """mpremote's transport over a Line."""

    def __init__(self, device, timeout):
        super().__init__(device, timeout=timeout)
        self.serial = Line(self.serial)
