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

# Objects that are built with other user modules lie apart.
extra=
[ -z "${EXTRA_C_MODULES:-}" ] || extra=-$(echo "$EXTRA_C_MODULES" | cksum | cut -d' ' -f1)

# link_modules FOLDER: a folder of links to the module and to the user modules in EXTRA_C_MODULES
# (folders, each of one user module or of several), because the make variable names one folder.
link_modules() {
    rm -rf "$1"
    mkdir -p "$1"
    ln -s "$root/native_modules/microzo" "$1/microzo"
    for folder in ${EXTRA_C_MODULES:-}; do
        found=
        for mk in "$folder"/micropython.mk "$folder"/*/micropython.mk; do
            [ -f "$mk" ] || continue
            module=$(cd "$(dirname "$mk")" && pwd)
            ln -s "$module" "$1/$(basename "$module")"
            found=1
        done
        [ -n "$found" ] || { echo "EXTRA_C_MODULES: no micropython.mk in $folder"; exit 1; }
    done
}
