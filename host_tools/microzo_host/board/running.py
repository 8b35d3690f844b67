"""Emulated boards that `microzo emulator` has started, so that other commands find them.

Each has a file in the user's cache folder as long as its process lives.
"""

import contextlib
import dataclasses
import json
import os
import pathlib


@dataclasses.dataclass(frozen=True)
class Running:
    """port: what to connect to; name: such as "m4, 256K"; pid: of the command that runs it."""

    port: str
    name: str
    pid: int


def folder():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache, "microzo", "boards")


@contextlib.contextmanager
def told(port, name):
    """The board at a port is known to other commands inside."""
    folder().mkdir(parents=True, exist_ok=True)
    path = folder() / f"{os.getpid()}.json"
    path.write_text(json.dumps({"port": port, "name": name, "pid": os.getpid()}))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def boards():
    """The Running there are; files of processes that are gone are removed."""
    alive = []
    for path in sorted(folder().glob("*.json")):
        try:
            board = Running(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            continue
        if _lives(board.pid) and os.path.exists(board.port):
            alive.append(board)
        else:
            path.unlink(missing_ok=True)
    return alive


def _lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
