"""The seed stands at the head of every run."""

import machine


def pytest_report_header():
    return f"the machine that keeps looking: MICROZO_SEED={machine.SEED}"
