#!/bin/sh
# Builds MicroPython's WebAssembly port with the module: build/wasm/micropython.mjs and .wasm.
. boards/tools/build_env.sh
out=${OUT:-build/wasm}
objects=$root/$OBJDIR/wasm
# The link has no rule for library.js of the variant.
rm -f "$objects/micropython.mjs"
EMSDK_PYTHON=/usr/bin/python3 make_mpy ports/webassembly VARIANT_DIR="$root/boards/web/variant" \
    BUILD="$objects" USER_C_MODULES="$root/native_modules" FROZEN_MANIFEST= TERSER=true
mkdir -p "$out"
cp "$objects/micropython.mjs" "$objects/micropython.wasm" "$out"
