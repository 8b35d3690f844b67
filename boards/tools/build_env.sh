# Sourced by the build scripts; the Makefile gives MPY (source tree) and OBJDIR (object files).
set -eu
# Variables of the Makefile's command line are not meant for MicroPython's makefiles.
unset MAKEFLAGS MAKEOVERRIDES MFLAGS
root=$(pwd)
jobs=-j$(nproc 2>/dev/null || echo 2)
mpy_cross=$root/$OBJDIR/mpy-cross/mpy-cross
python=$root/.venv/bin/python

# MicroPython shall not take this repository's revision for its own.
export GIT_CEILING_DIRECTORIES="$root"

# Freezing wants micropython-lib to be there, though nothing of it is used.
mkdir -p "$OBJDIR/micropython-lib"
: > "$OBJDIR/micropython-lib/README.md"

# make_mpy PORT VARIABLES...: builds in a port of the source tree, which stays unmodified.
make_mpy() {
    folder=$1
    shift
    make $jobs -C "$MPY/$folder" PYTHON="$python" MICROPY_MPYCROSS="$mpy_cross" \
        MICROPY_MPYCROSS_DEPENDENCY= MPY_LIB_DIR="$root/$OBJDIR/micropython-lib" "$@"
}

has_usermod() {
    [ -f native_modules/microzo/micropython.mk ] && return
    echo "* native_modules/microzo is not there yet: skipped what has it built in"
    return 1
}
