#!/bin/sh
# Builds the native module _microzo.mpy for each architecture: build_natmod.sh ARCH...
# Where it would be too large, the gradients go to a second one, _microzo_grad.mpy.
. boards/tools/build_env.sh
source=${SOURCE:-native_modules/microzo}
out=${OUT:-build/natmod}
build() { # ARCH PART OBJECTS
    rm -rf "$3"  # its names do not follow api.h
    make $jobs -C "$source" ARCH="$1" PART="$2" MPY_DIR="$(cd "$MPY" && pwd)" \
        BUILD="$3" MPY_CROSS="$mpy_cross" PYTHON="$python"
    mv "$source"/_microzo*.mpy "$out/$1/"
}

for arch in "$@"; do
    objects=$root/${OBJECTS:-$OBJDIR}/natmod-$arch
    mkdir -p "$out/$arch"
    rm -rf "$out/$arch"/_microzo*.mpy "$objects-gradient"
    if [ "$arch" = xtensawin ]; then
        export XTENSA_GNU_CONFIG="$root/build/xtensa/le.so"
        [ -f "$XTENSA_GNU_CONFIG" ] || boards/tools/build_xtensa_plugin.sh "$XTENSA_GNU_CONFIG"
    fi
    case $arch in
    armv* | rv32*)
        build "$arch" core "$objects"
        build "$arch" gradient "$objects-gradient" ;;
    *)
        build "$arch" all "$objects" ;;
    esac
done
