"""Milliseconds on boards and on CPython."""

import time

if hasattr(time, "ticks_ms"):
    now = time.ticks_ms
    since = time.ticks_diff
else:

    def now():
        return int(time.monotonic() * 1000)

    def since(end, begin):
        return end - begin
