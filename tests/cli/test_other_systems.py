"""Every command loads on Windows and macOS: nothing of Linux is imported on the way.

Windows is stood in for: modules that it lacks are refused, and so is the C library by no name.
"""

import subprocess
import sys

import pytest

# Libraries that have code of their own for each system are imported as they are here.
FIRST = """
import sys, click, concurrent.futures.process, multiprocessing.reduction, rich.console
import mpremote.transport_serial, serial.tools.list_ports
"""
LACKING = """
import ctypes
before = ctypes.CDLL
def library(name, *more, **options):
    if name is None:
        raise TypeError("there is no such library on Windows")
    return before(name, *more, **options)
ctypes.CDLL = library
for name in "fcntl termios pty resource tty pwd grp".split():
    sys.modules[name] = None
"""
LOAD = """
sys.platform = {!r}
from microzo_host import cli
for name in cli.COMMANDS:
    cli.main.get_command(None, name)
print(len(cli.COMMANDS), "commands")
"""


@pytest.mark.slow
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_commands_load(system):
    code = FIRST + LACKING * (system == "win32") + LOAD.format(system)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "commands" in done.stdout, done.stderr


def test_the_stand_in_refuses():
    for line in ("import fcntl", "ctypes.CDLL(None)"):
        code = FIRST + LACKING + line
        assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode
