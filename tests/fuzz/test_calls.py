"""The native API under the sanitizers, guided by coverage and by the oracle's cases."""

import subprocess
import sys

import libfuzzer
import machine
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not machine.FULL, reason="builds of half a minute: MICROZO_FULL=1"),
]


def test_the_plan_checker_in_python():
    pytest.importorskip("atheris", reason="pip install microzo[fuzz]")
    machine.worker("plan_fuzz.py", 300_000)


def test_the_table_and_the_plan_checker_in_c():
    try:
        libfuzzer.compiler()
    except libfuzzer.Missing as error:
        pytest.skip(str(error))
    machine.worker("libfuzzer.py", "run", 300)


@pytest.mark.parametrize("how", ["--sanitize", "--unix"])
def test_spoilt_calls_under_the_sanitizers(how):
    script = machine.ROOT / "tests" / "kernels" / "fuzz.py"
    command = [sys.executable, str(script), "--n", "50000", "--seed", str(machine.SEED), how]
    done = subprocess.run(command, capture_output=True, text=True, cwd=machine.ROOT)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def test_the_corpus_reaches_every_entry(tmp_path):
    libfuzzer.unpack(tmp_path)
    count = len(libfuzzer.entries())
    reached = {path.read_bytes()[0] % count for path in tmp_path.iterdir()}
    assert reached == set(range(count))
