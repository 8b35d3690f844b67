"""`make demo` at small size: the table, the result file, the exit status."""

import json
import subprocess
import sys

from microzo_host.board import push


def test_demo(builds, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "microzo_host.demo", "--quick", "--no-bp", "--out", str(tmp_path),
         "--corruptions", "translate", "fog"],
        cwd=push.ROOT, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    for words in (
        "$ mpremote connect",
        "run device/examples/train.py",
        "journal replay: identical",
    ):
        assert words in done.stdout
    found = json.loads((tmp_path / "result.json").read_text())
    assert set(found) == {
        "corruptions", "ram_peak_bytes", "ram_limit_bytes", "replay_identical", "steps",
        "instructions_per_step",
    }  # fmt: skip
    assert set(found["corruptions"]) == {"translate", "fog"}
    for row in found["corruptions"].values():
        assert set(row) == {"zero_shot", "default", "forward_only", "bp"}
        assert row["default"] >= row["zero_shot"] and row["bp"] is None
    assert found["ram_limit_bytes"] == 256 << 10 > found["ram_peak_bytes"]
    assert found["replay_identical"] is True
    assert found["instructions_per_step"] > 100_000 and found["steps"] > 8
