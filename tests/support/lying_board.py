"""A serial port whose board answers what a test wants, in the raw REPL's own words."""

import os
import pty
import select
import threading
import tty

_PROMPT = b"raw REPL; CTRL-B to exit\r\n>"
_TRUTH = {
    "sys.implementation.name": b"('micropython', (1, 25, 0), 7942, 'a board', 100000)",
    "os.statvfs": b"(4096, 4096, 2048, 2000)",
    "_mz_there(": b"0",
    "repr((getattr(_microzo": b"'built in'",
    "repr((_mz_hash": b"(-1, '')",
}


class LyingBoard:
    """``lies``: {part of a command: the bytes it prints}; ``error``: what stands after them;
    ``noise``: what it sends without end in place of all."""

    def __init__(self, lies=None, error=b"", noise=b""):
        self._lies, self._error, self._noise = lies or {}, error, noise
        self._over = threading.Event()
        self._own, self._other = pty.openpty()
        for end in (self._own, self._other):
            tty.setraw(end)
        self.port = os.ttyname(self._other)
        os.set_blocking(self._own, False)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()  # before its file numbers are another's
        for end in (self._own, self._other):
            os.close(end)

    def _run(self):
        text, raw = b"", False
        while not self._over.is_set():
            if self._noise:
                self._send(self._noise)
            elif select.select([self._own], [], [], 0.02)[0]:
                text += os.read(self._own, 4096)
            on = not self._noise
            while text and on:
                raw, text, on = self._step(raw, text)

    def _send(self, data):
        while data and not self._over.is_set():
            if select.select([], [self._own], [], 0.02)[1]:
                data = data[os.write(self._own, data) :]

    def _step(self, raw, text):
        """(in the raw REPL, what is left, whether it went on) after one key or command."""
        if not raw:
            _, ctrl_a, text = text.partition(b"\x01")
            return self._say(_PROMPT, bool(ctrl_a), text)
        if text.startswith(b"\x05A\x01"):
            return self._say(b"R\0", True, text[3:])
        if text[:1] == b"\x04":
            return self._say(b"OK\r\nMPY: soft reboot\r\n" + _PROMPT, True, text[1:])
        if text[:1] == b"\x01":
            return self._say(_PROMPT, True, text[1:])
        if text[:1] in (b"\r", b"\x03"):
            return True, text[1:], True
        if text[:1] == b"\x02":
            return self._say(b"\r\n>>> ", False, text[1:])
        command, ctrl_d, rest = text.partition(b"\x04")
        if not ctrl_d:
            return True, text, False
        self._answer(command.decode())
        return True, rest, True

    def _say(self, data, raw, rest):
        if raw or data != _PROMPT:
            self._send(data)
        return raw, rest, True

    def _answer(self, command):
        answers = (*self._lies.items(), *_TRUTH.items())
        text = next((answer for part, answer in answers if part in command), b"")
        self._send(b"OK" + text + b"\x04" + self._error + b"\x04>")
