"""A connection to one board over its serial line; only it and line.py use mpremote's library.

mpremote's internals are not promised to stay, so nothing else imports them.
Every failure is a ``LinkError`` or a ``ScriptError``, with one sentence.
What a board answers is bounded and checked: a wrong or hostile one ends in such a sentence too.
"""

import ast
import contextlib
import io
import os
import pathlib
import stat
import struct
import threading
import time

import serial
import serial.tools.list_ports
from mpremote.transport import TransportError, TransportExecError

from .. import place
from ..visible import visible
from . import running
from .errors import BoardError, LinkError, ScriptError
from .line import Transport

READ_TIMEOUT = 10  # s that a board at its prompt may take to answer
ATTEMPTS = 3
ENTERING = 40  # s that all attempts may take
MOST_OUTPUT = 1 << 24  # bytes that a command may print
MOST_VALUE = 1 << 16  # bytes of a value in Python's words
_QUIET = threading.Lock()  # redirecting stdout is for the whole process: one thread at a time


class Link:
    """A board in the raw REPL; use as a context manager.

    ``reset`` starts it afresh (soft reset without main.py), which frees its memory.
    """

    def __init__(self, port, reset=True):
        self.port = find_port(port)
        self._transport = _open(self.port)
        try:
            self._enter(reset)
        except BaseException:
            self._transport.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Back to the friendly REPL, port released."""
        with contextlib.suppress(OSError):
            if self._transport.in_raw_repl:
                self._transport.exit_raw_repl()
        with contextlib.suppress(OSError):
            self._transport.close()

    @property
    def transport(self):
        """mpremote's own transport, for tests that watch single bytes."""
        return self._transport

    def exec(self, code, timeout=60, follow=None):
        """Run code and return what it printed; ``follow`` gets text as it comes instead.

        ``timeout`` is in seconds without any output.
        """
        out = bytearray()

        def collect(data):
            self._transport.serial.heard()
            data = data.strip(b"\x04")
            if follow:
                follow(data.decode("utf-8", "replace"))
            elif len(out) < MOST_OUTPUT:
                out.extend(data)
            else:
                raise LinkError(
                    f"the board at {self.port} printed more than {MOST_OUTPUT >> 20} MB: reset it"
                )

        with self._errors():
            _, error = self._transport.exec_raw(code, timeout, collect)
            if error:
                raise ScriptError(error.decode("utf-8", "replace"))
            return out.decode("utf-8", "replace")

    def soft_reset(self):
        """A new interpreter, the same files; main.py does not run."""
        with self._errors():
            self._enter(True)

    def value(self, expression, shape):
        """The value of an expression, a Python literal of that shape: a type or a tuple of shapes.

        An answer of another shape is refused: nothing says that a board runs what it is sent.
        """
        text = self.exec(f"print(repr(({expression})))").strip()
        with contextlib.suppress(
            ValueError, SyntaxError, TypeError, MemoryError, RecursionError, OverflowError
        ):
            value = ast.literal_eval(text[: MOST_VALUE + 1])
            if len(text) <= MOST_VALUE and _fits(value, shape):
                return value
        raise LinkError(
            f"the board at {self.port} answers with noise: reset it, check its cable and try again"
        )

    def stream(self, source, write, seconds=None):
        """Run a script; ``write`` gets its output (bytes) as it comes, however long that takes.

        Ctrl-C goes on to the board, whose script may tidy up; a second one leaves it.
        """
        interrupted = False

        def show(data):
            self._transport.serial.heard()
            write(data.strip(b"\x04"))

        with self._errors():
            self._transport.exec_raw_no_follow(source)
            while True:
                try:
                    _, error = self._transport.follow(seconds, show)
                    break
                except KeyboardInterrupt:
                    if interrupted:
                        raise
                    interrupted = True
                    self._transport.serial.write(b"\x03")
        if error:
            raise ScriptError(error.decode("utf-8", "replace"))

    @contextlib.contextmanager
    def _errors(self):
        """mpremote's and pyserial's failures as ours."""
        try:
            yield
        except TransportExecError as error:
            raise ScriptError(error.error_output) from None
        except (TransportError, struct.error) as error:
            why = visible(" ".join(str(error).split()))[:200]
            raise LinkError(
                f"the board at {self.port} stopped answering ({why}): reset it and try again"
            ) from None
        except (serial.SerialException, OSError) as error:
            if isinstance(error, BoardError):
                raise
            raise LinkError(
                f"the board at {self.port} went away: check its cable and start again"
            ) from None

    def _enter(self, reset):
        """Into the raw REPL; boards that reset when the port opens need a second try."""
        self._transport.serial.give_up(ENTERING)
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(0.5 * attempt)
            fresh = reset and attempt < ATTEMPTS - 1
            with (
                contextlib.suppress(TransportError),
                _QUIET,
                contextlib.redirect_stdout(io.StringIO()),
            ):
                try:
                    self._transport.serial.heard()
                    self._transport.enter_raw_repl(soft_reset=fresh)
                    self._transport.serial.give_up(None)
                    return
                except (serial.SerialException, OSError):
                    break
        raise LinkError(
            f"{self.port} does not answer as a MicroPython board: reset it, or choose another "
            f"port (`microzo boards` lists them)"
        )


def listen(port, silence=0.2):
    """What a board sends of its own accord: bytes as they come, b"" after `silence` seconds.

    Nothing is sent to it, so that a script which runs is not disturbed.
    """
    port = find_port(port)
    try:
        line = serial.serial_for_url(port, baudrate=115200, timeout=silence, exclusive=True)
    except (serial.SerialException, OSError, ValueError):
        raise LinkError(_why_closed(port)) from None
    with line:
        while True:
            try:
                yield line.read(max(1, line.in_waiting))
            except (serial.SerialException, OSError):
                raise LinkError(
                    f"the board at {port} went away: check its cable and start again"
                ) from None


def _fits(value, shape):
    """Whether a value is of a type (integers: of 64 bits), or a tuple of values that fit."""
    if isinstance(shape, tuple):
        return (
            type(value) is tuple
            and len(value) == len(shape)
            and all(_fits(v, s) for v, s in zip(value, shape))
        )
    return type(value) is shape and (shape is not int or -(1 << 63) <= value < 1 << 63)


def ports():
    """Serial ports there are: a list of (device, description, is_usb)."""
    found = serial.tools.list_ports.comports()
    return [(p.device, p.description or "", p.vid is not None) for p in sorted(found)]


def find_port(port):
    """``auto`` becomes the only USB serial port or running emulated board; anything else stays."""
    if port != "auto":
        return port
    usb = [device for device, _, is_usb in ports() if is_usb]
    usb += [board.port for board in running.boards()]
    if not usb:
        start = place.cure("make board", "start an emulated one by `microzo emulator`")
        raise LinkError(f"no board found: plug one in, or {start}")
    if len(usb) > 1:
        raise LinkError(f"{len(usb)} boards found: choose one of {', '.join(usb)}")
    return usb[0]


def _open(port):
    try:
        return Transport(port, timeout=READ_TIMEOUT)
    except (TransportError, serial.SerialException, OSError, ValueError):
        raise LinkError(_why_closed(port)) from None


def _why_closed(port):
    """One sentence: why a port did not open."""
    if "://" in port:
        return f"no board answers at {port}: start it or correct the address"
    if not os.path.exists(port):
        return f"no board at {port}: `microzo boards` lists the ports there are"
    if not os.access(port, os.R_OK | os.W_OK):
        return f"no permission to open {port}: add yourself to the group that owns it"
    if not _is_serial(port):
        return f"{port} is no serial port: `microzo boards` lists the ports there are"
    holder = _holder(port)
    return f"the port {port} is busy{holder}: close the other program and try again"


def _is_serial(port):
    """Whether a file is a terminal device (or one that cannot be opened to find out)."""
    if not stat.S_ISCHR(os.stat(port).st_mode):
        return False
    try:
        handle = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return True
    try:
        return os.isatty(handle)
    finally:
        os.close(handle)


def _holder(port):
    """`` (process 12, mpremote)`` if /proc tells who holds the port, else nothing."""
    target = os.path.realpath(port)
    for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.readlink(link) == target:
                pid = link.parts[2]
                if int(pid) != os.getpid():
                    name = pathlib.Path("/proc", pid, "comm").read_text().strip()
                    return f" (process {pid}, {name})"
    return ""
