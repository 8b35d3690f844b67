"""Altered files of every kind: a right result or one sentence, in bounded time and memory."""

import machine
import pytest
from mutant_kinds import KINDS

NEEDS = {"tflite": "ai_edge_litert", "onnx": "onnx"}

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", KINDS)
def test_mutants(kind):
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind], reason="its schema builds the files")
    machine.worker("mutant_worker.py", kind, machine.count(500, 20_000))


def test_forged_journals_on_micropython():
    machine.worker("journals_on_boards.py", machine.count(40, 1500))
