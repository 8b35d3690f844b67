#!/bin/sh
# Builds the native module _microzo.mpy for each architecture: build_natmod.sh ARCH...
. boards/tools/build_env.sh
if [ ! -f native_modules/microzo/Makefile ]; then
    echo "* native_modules/microzo/Makefile is not there yet: skipped"
    exit 0
fi
for arch in "$@"; do
    mkdir -p "build/natmod/$arch"
    make $jobs -C native_modules/microzo ARCH="$arch" MPY_DIR="$(cd "$MPY" && pwd)" \
        BUILD="$root/$OBJDIR/natmod-$arch" MPY_CROSS="$mpy_cross" PYTHON="$python"
    mv native_modules/microzo/_microzo.mpy "build/natmod/$arch/_microzo.mpy"
done
