"""A real browser without a window: Debian's Chromium, `make packages-browser`."""

import os
import re
import shutil
import subprocess
import tempfile

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def _run(address, *options):
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("there is no Chromium: make packages-browser")
    with tempfile.TemporaryDirectory() as profile:
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--user-data-dir={profile}", "--enable-logging=stderr", "--v=0", *options]
        done = subprocess.run(
            [*command, str(address)], capture_output=True, text=True, timeout=120,
            env={**os.environ, "HOME": profile},
        )  # fmt: skip
    messages = re.findall(r"CONSOLE.*", done.stderr)
    assert messages == [], messages
    return done.stdout


def dom(address, wait=2000):
    """The page after its scripts ran for so many ms of its own time; fails if it complains."""
    return _run(_address(address), f"--virtual-time-budget={wait}", "--dump-dom")


def _address(address):
    return address if isinstance(address, str) else address.as_uri()
