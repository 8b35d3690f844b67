"""The tutorial's code runs on the emulated board as it is written, a soft reset where it says."""

import re
import subprocess
import sys

from microzo_host.board import push

PAGE = push.ROOT / "docs" / "tutorial" / "first-steps.md"


def sessions():
    """Code for the board, from one soft reset to the next."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    code = "".join(block for block in blocks if "numpy" not in block)
    return ["import microzo\n" + part for part in code.split("import microzo\n")[1:]]


def test_the_tutorial_runs_on_a_board(start, tmp_path):
    board = start()
    parts = sessions()
    assert len(parts) == 2
    for part in parts:
        script = tmp_path / "session.py"
        script.write_text(part)
        done = subprocess.run(
            [sys.executable, "-m", "mpremote", "connect", board.port, "run", script],
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"^\[.*(kept|rolled back)", done.stdout, re.M)
