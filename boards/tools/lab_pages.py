"""Writes into docs/labs/N-solution.md what the code of each sheet prints on CPython.

lab_pages.py --write writes the pages; lab_pages.py --check names those that differ. It needs the
extra `notebooks`. The seconds of a step are left out: they differ from run to run.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("device", "host_tools", "boards/tools")]

import generated  # noqa: E402

from microzo_host.labs import folder, sheets  # noqa: E402

BETWEEN = "\x1e"  # between the outputs of two blocks
BEGIN, END = "<!-- output: begin -->\n", "<!-- output: end -->"
PART = re.compile(f"{BEGIN}.*?{END}", re.S)


def marked(codes):
    """One program of several blocks; it prints BETWEEN after each."""
    return "\n".join(f"{code}\nprint({BETWEEN!r})" for code in codes)


def outputs(text):
    """What each block printed, without what differs from run to run."""
    text = re.sub(r"\d[\d.e-]* s/step eta \d+ s", "... s/step", text.replace("\r", ""))
    lines = [line.rstrip(" ") for line in text.split("\n")]
    return [part.strip("\n") for part in "\n".join(lines).split(BETWEEN)[:-1]]


def printed(name, codes, where):
    """Outputs of blocks of code, run on CPython in a folder of the labs."""
    paths = os.pathsep.join([*(str(ROOT / name) for name in ("device", "host_tools")), str(where)])
    done = subprocess.run(
        [sys.executable, "-c", marked(codes)], cwd=where,
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stdout[-2000:]}{done.stderr}")
    return outputs(done.stdout)


def on_cpython(page, where):
    """Outputs of the blocks of a sheet."""
    return printed(page.name, sheets.blocks(page), where)


def solution(page):
    """The page with the answers to a sheet."""
    return page.with_name(f"{page.stem[0]}-solution.md")


def shown(texts):
    """The part of a page that shows outputs."""
    return "\n".join(
        f"Block {number}:\n\n```text\n{text}\n```\n" for number, text in enumerate(texts, 1)
    )


def stable():
    """The sheets whose code prints the same everywhere: not the one that trains on the PC."""
    return [page for page in sheets.sheets() if sheets.PC_ONLY not in page.read_text()]


def pages(where, which=None):
    """{path: its text as it must be} of all sheets, or of some."""
    texts = {}
    for page in which or sheets.sheets():
        path = solution(page)
        before, _, rest = path.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        part = shown(on_cpython(page, where))
        texts[path] = f"{before}{BEGIN}\n{part}\n{END}{after}"
    return texts


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder.make(temporary)
        return generated.run(__doc__, pages(temporary))


if __name__ == "__main__":
    sys.exit(main())
