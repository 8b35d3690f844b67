#!/bin/sh
# Builds the native module _microzo.mpy for each architecture: build_natmod.sh ARCH...
. boards/tools/build_env.sh
source=${SOURCE:-native_modules/microzo}
out=${OUT:-build/natmod}
for arch in "$@"; do
    mkdir -p "$out/$arch"
    rm -rf "$root/${OBJECTS:-$OBJDIR}/natmod-$arch"  # its names do not follow api.h
    if [ "$arch" = xtensawin ]; then
        export XTENSA_GNU_CONFIG="$root/build/xtensa/le.so"
        [ -f "$XTENSA_GNU_CONFIG" ] || boards/tools/build_xtensa_plugin.sh "$XTENSA_GNU_CONFIG"
    fi
    make $jobs -C "$source" ARCH="$arch" MPY_DIR="$(cd "$MPY" && pwd)" \
        BUILD="$root/${OBJECTS:-$OBJDIR}/natmod-$arch" MPY_CROSS="$mpy_cross" PYTHON="$python"
    mv "$source/_microzo.mpy" "$out/$arch/_microzo.mpy"
done
