"""A headless Chromium, driven by its DevTools protocol over a pipe; a web server of one folder."""

import base64
import contextlib
import fcntl
import functools
import http.server
import json
import os
import shutil
import signal
import tempfile
import threading
import time

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


@contextlib.contextmanager
def served(folder):
    """The address of a server of static files."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def _high(pipe):
    """The ends of a pipe as numbers above those that the browser gives a meaning."""
    ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in pipe]
    for fd in pipe:
        os.close(fd)
    return ends


def _text(details):
    """What an exception says."""
    return details.get("exception", {}).get("description") or details["text"]


class Browser:
    """One page of a Chromium of its own, in a profile folder."""

    def __init__(self, profile):
        command = [
            CHROMIUM, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={profile}",
            "--window-size=1200,900", "about:blank",
        ]  # fmt: skip
        read, self._out = _high(os.pipe())
        self._in, write = _high(os.pipe())
        # The protocol's two ends are file descriptors 3 and 4 of the browser.
        files = [(os.POSIX_SPAWN_DUP2, read, 3), (os.POSIX_SPAWN_DUP2, write, 4)]
        for fd in (1, 2):
            files.append((os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0))
        self._pid = os.posix_spawn(CHROMIUM, command, os.environ, file_actions=files)
        os.close(read)
        os.close(write)
        self._file = os.fdopen(self._in, "rb")
        self._id = 0
        self._session = {}
        self._loaded = False
        self.errors = []  # exceptions and errors that the page logged
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Runtime", "Page", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self._pid, signal.SIGTERM)
        os.waitpid(self._pid, 0)
        self._file.close()
        os.close(self._out)

    def call(self, method, **params):
        """The result of a command of the protocol."""
        self._id += 1
        message = {"id": self._id, "method": method, "params": params, **self._session}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _next(self):
        message = bytearray()
        while (byte := self._file.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("the browser has ended")
            message += byte
        return json.loads(message)

    def _note(self, event):
        kind, params = event.get("method"), event.get("params", {})
        if kind == "Page.loadEventFired":
            self._loaded = True
        elif kind == "Runtime.exceptionThrown":
            self.errors.append(_text(params["exceptionDetails"]))
        elif kind == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])

    def open(self, url):
        """Goes to an address; returns when the page is loaded."""
        self._loaded = False
        self.call("Page.navigate", url=url)
        while not self._loaded:
            self._note(self._next())

    def value(self, expression):
        """The value of JavaScript; a promise is waited for."""
        result = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(_text(result["exceptionDetails"]))
        return result["result"].get("value")

    def wait_for(self, expression, seconds=60):
        """Waits until JavaScript is true."""
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} is not true; the page said {self.errors}")
            time.sleep(0.2)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))


def dom(address, wait=2000):
    """The page, an address or a file, so many ms after it was loaded; fails if it complains."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: make packages-browser")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        Browser(profile) as browser,
    ):
        browser.open(address if isinstance(address, str) else address.as_uri())
        time.sleep(wait / 1000)
        page = browser.value("document.documentElement.outerHTML")
        assert browser.errors == [], browser.errors
        return page
