# Runs a script as a CircuitPython board would: limits.py SCRIPT ARGUMENTS. The modules lack the
# functions that CircuitPython leaves out and MicroPython always has.
import sys
import time


class Time:
    monotonic = staticmethod(lambda: time.ticks_ms() / 1000)
    sleep = staticmethod(time.sleep)


class Micropython:
    const = staticmethod(lambda value: value)


sys.modules["time"] = Time
sys.modules["micropython"] = Micropython
sys.argv[:] = sys.argv[1:]
with open(sys.argv[0]) as f:
    exec(f.read(), {"__name__": "__main__"})
