"""Ctrl-C at any bytecode. On emulated boards: tests/e2e/test_interruptions.py."""

import machine
import pytest


@pytest.mark.slow
def test_ctrl_c_between_any_two_bytecodes():
    machine.worker("interrupt_worker.py", machine.count(60, 2000))
