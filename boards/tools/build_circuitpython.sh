#!/bin/sh
# Builds MicroPython's unix port with the limits of a CircuitPython board, build/unix/micropython-limits.
# CIRCUITPY_DIR=<tree>: CircuitPython's own unix port from it instead, build/unix/circuitpython-*: as
# it is for a PC, and with what its boards have. The tree stays unmodified.
. boards/tools/build_env.sh
mkdir -p build/unix

if [ -z "${CIRCUITPY_DIR:-}" ]; then
    make_mpy ports/unix VARIANT=limits VARIANT_DIR="$root/boards/circuitpython/limits" \
        BUILD="$root/$OBJDIR/unix-limits" PROG=micropython
    cp "$OBJDIR/unix-limits/micropython" build/unix/micropython-limits
    exit
fi
