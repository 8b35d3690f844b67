"""The native API under the sanitizers, guided by coverage and by the oracle's cases."""

import subprocess
import sys

import coverage
import machine
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not machine.FULL, reason="builds of half a minute: MICROZO_FULL=1"),
]


def test_the_fuzzer_finds_nothing():
    try:
        coverage.compiler()
    except coverage.Missing as error:
        pytest.skip(str(error))
    machine.worker("coverage.py", "run", 300)


@pytest.mark.parametrize("how", ["--sanitize", "--unix"])
def test_spoilt_calls_under_the_sanitizers(how):
    script = machine.ROOT / "tests" / "kernels" / "fuzz.py"
    command = [sys.executable, str(script), "--n", "50000", "--seed", str(machine.SEED), how]
    done = subprocess.run(command, capture_output=True, text=True, cwd=machine.ROOT)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def test_the_corpus_reaches_every_entry(tmp_path):
    coverage.unpack(tmp_path)
    count = len(coverage.entries())
    reached = {path.read_bytes()[0] % count for path in tmp_path.iterdir()}
    assert reached == set(range(count))
