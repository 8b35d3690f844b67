"""The page of a run while it goes on: a small web server for this computer alone.

/ is the page, /events tells its script what is new (server-sent events).
"""

import http.server
import json
import threading
import time

from . import page

PAUSE = 0.2  # s between two events
SILENCE = 10  # s after which a comment shows whether the browser is there
ADDRESS = "127.0.0.1"
HOSTS = (ADDRESS, "localhost")


class Server:
    """A context manager: serves a live.Live; ``url`` is where. port: 0 takes a free one."""

    def __init__(self, live, title, port=0):
        html = page.live_page(title).encode()
        handler = type("Handler", (_Handler,), {"live": live, "html": html})
        try:
            self._server = _Threads((ADDRESS, port), handler)
        except OSError as error:
            raise OSError(f"port {port} cannot be used ({error.strerror}): give another") from None
        self._live = live
        self.url = f"http://{ADDRESS}:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._live.end()
        time.sleep(2 * PAUSE)  # the browsers get the last state
        self._server.shutdown()
        self._server.server_close()


class _Threads(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False


class _Handler(http.server.BaseHTTPRequestHandler):
    live = html = None

    def do_GET(self):  # noqa: N802 (the name that http.server calls)
        host = self.headers.get("Host", "").rpartition(":")[0]
        if host not in HOSTS:  # another page's script, by a name that leads here
            self.send_error(403)
        elif self.path == "/":
            self._answer("text/html; charset=utf-8")
            self.wfile.write(self.html)
        elif self.path == "/events":
            self._answer("text/event-stream")
            self._events()
        else:
            self.send_error(404)

    def log_message(self, *_):
        """Nothing: the terminal shows the run."""

    def _answer(self, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()

    def _events(self):
        sent = -1
        try:
            while True:
                version = self.live.wait(sent, SILENCE)
                state = self.live.state()
                new = version > sent
                text = "data: " + json.dumps(state) if new else ": still here"
                self.wfile.write(f"{text}\n\n".encode())
                self.wfile.flush()
                sent = version
                if state["ended"]:
                    return
                time.sleep(PAUSE)
        except OSError:
            return  # the browser has gone
