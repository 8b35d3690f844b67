#!/bin/sh
# Builds MicroPython's WebAssembly port with the module: build/wasm/micropython.mjs and .wasm.
# MICROPYTHON_LIB=folder, a tree of micropython-lib, freezes in what PyScript needs of it.
. boards/tools/build_env.sh
out=${OUT:-build/wasm}
objects=$root/$OBJDIR/wasm
frozen=
if [ -n "${MICROPYTHON_LIB:-}" ]; then
    [ -f "$MICROPYTHON_LIB/python-stdlib/pathlib/manifest.py" ] ||
        { echo "* MICROPYTHON_LIB: $MICROPYTHON_LIB is no tree of micropython-lib"; exit 1; }
    objects=$objects-lib
    frozen=$(cd "$MPY" && pwd)/ports/webassembly/variants/pyscript/manifest.py
fi
# The link has no rule for library.js of the variant.
rm -f "$objects/micropython.mjs"
EMSDK_PYTHON=/usr/bin/python3 make_mpy ports/webassembly VARIANT_DIR="$root/boards/web/variant" \
    BUILD="$objects" USER_C_MODULES="$root/native_modules" TERSER=true \
    FROZEN_MANIFEST="$frozen" ${MICROPYTHON_LIB:+MPY_LIB_DIR="$MICROPYTHON_LIB"}
mkdir -p "$out"
cp "$objects/micropython.mjs" "$objects/micropython.wasm" "$out"
