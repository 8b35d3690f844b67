"""Runs golden cases on an interpreter, and reads and writes goldens.json."""

import json
import os
import pathlib
import subprocess
import sys

import golden_cases
import golden_data
import golden_words

from microzo_host.board import emulator, pico, push
from microzo_host.board import info as board_info
from microzo_host.board import link as board_link

FOLDER = pathlib.Path(__file__).parent
RUNNER = FOLDER / "runner.py"
GOLDENS = FOLDER / "goldens.json"
FIELDS = ("state", "model", "journal", "data", "scores", "steps")
BOARD = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv7emsp", "6.3", 0, "absent")
PICO = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv6m", "6.3", 0, "absent")
_ORACLE = """
import runpy, sys
import microzo
from microzo_host import reference as oracle
microzo.use(oracle)
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


def cases(slow=False, board=False, names=None):
    """Cases as golden_cases has them: those of the names, or the quick ones, or all with slow."""
    return [
        case for case in golden_cases.CASES
        if (case["name"] in names if names else slow or not case["slow"])
        and (case["board"] or not board)
    ]  # fmt: skip


def prepare(folder, which, replay=True):
    """A file of cases in a folder, one a line; replay: whether each journal is replayed, too."""
    made = [golden_words.resolved(case, golden_cases.SHORT) for case in which]
    lines = [json.dumps(dict(case, replay=replay and not case["live"])) for case in made]
    path = pathlib.Path(folder, "cases.txt")
    path.write_text("\n".join(lines) + "\n")
    return path


WARNING = "microzo: warning: "  # about the data, which is small on purpose


def parse(said):
    """{name: {field: value}} of what the runner printed."""
    said = said.splitlines()
    lines = [line.split() for line in said if line.strip() and not line.startswith(WARNING)]
    return {name: dict(zip(FIELDS, map(int, values), strict=True)) for name, *values in lines}


def command(path, sets, out, kernels=None):
    """The command line that runs the cases of a file on CPython; kernels: "oracle"."""
    head = ["-c", _ORACLE] if kernels else []
    return [sys.executable, *head, str(RUNNER), str(path), f"{sets}/", f"{out}/"]


def on_cpython(sets, out, which, kernels=None):
    done = subprocess.run(
        command(prepare(out, which), sets, out, kernels), capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return parse(done.stdout)


def on_unix(sets, out, which):
    """The unix port with the kernels built in."""
    unix = emulator.Unix(True, path=[FOLDER.parents[1] / "device"], heap="16M")
    return parse(unix.run(RUNNER, prepare(out, which), f"{sets}/", f"{out}/", timeout=300))


def _files(path, sets, model):
    """What a board's disk has beside the package: the cases and their model and samples."""
    return {p.name: p for p in (path, *pathlib.Path(sets).glob(f"{model}.*"))}


def _script(path):
    """The runner with its arguments."""
    return f"import sys\nsys.argv[:] = {['', path.name, '', '']!r}\n" + RUNNER.read_text()


def on_pico(sets, out, which, replay=True):
    """An emulated Raspberry Pi Pico: MicroPython's own firmware, native module, compiled package.
    The cases are of one small model."""
    plan, _ = push.plan_files(PICO, [])
    path = prepare(out, which, replay)
    (model,) = {case["model"] for case in which}
    with (
        pico.Pico({**dict(plan), **_files(path, sets, model)}) as board,
        board_link.Link(board.port, reset=False) as link,
    ):
        return parse(link.exec(_script(path), timeout=600))


def on_board(sets, out, which):
    """The emulated board of 256 KB: stock firmware, native module, compiled package. It starts
    anew for every small model, and for every case of the demo, which needs a heap without holes
    and leaves no room for a replay."""
    plan, _ = push.plan_files(BOARD, [])
    groups = {}
    for case in which:
        key = case["name"] if case["model"] == "demo" else case["model"]
        groups.setdefault(key, []).append(case)
    results = {}
    for group in groups.values():
        model = group[0]["model"]
        path = prepare(out, group, replay=model != "demo")
        with emulator.Board(ram="256K", fs={**dict(plan), **_files(path, sets, model)}) as board:
            results.update(parse(board.exec(_script(path), timeout=600)))
    return results


def read():
    """{name: {field: value}}"""
    return json.loads(GOLDENS.read_text())


def write(goldens):
    lines = [f"{json.dumps(name)}: {json.dumps(goldens[name])}" for name in goldens]
    GOLDENS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def make_sets(folder):
    golden_data.write(folder)
    return os.fspath(folder)
