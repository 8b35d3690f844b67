#!/bin/sh
# Builds firmware of emulated boards, each RAM size, stock and with the module:
# build_firmware.sh BOARD... (folders of boards/; without any, MPS2_AN386)
# EXTRA_C_MODULES (folders, each of one user module or of several) go into the latter.
. boards/tools/build_env.sh
out=${OUT:-build/firmware}
kinds=${KINDS:-stock usermod}
sizes=${SIZES:-256K 1M}
mkdir -p "$out"

# The make variable names one folder, so that one is made, of links.
link_modules() {
    rm -rf "$1"
    mkdir -p "$1"
    ln -s "$root/native_modules/microzo" "$1/microzo"
    for extra in ${EXTRA_C_MODULES:-}; do
        found=
        for mk in "$extra"/micropython.mk "$extra"/*/micropython.mk; do
            [ -f "$mk" ] || continue
            module=$(cd "$(dirname "$mk")" && pwd)
            ln -s "$module" "$1/$(basename "$module")"
            found=1
        done
        [ -n "$found" ] || { echo "EXTRA_C_MODULES: no micropython.mk in $extra"; exit 1; }
    done
}

# build BOARD KIND USER_C_MODULES: compiles once and links for each RAM size.
build() {
    objects=$root/$OBJDIR/firmware-$1-$2${EXTRA_C_MODULES:+-extra}
    name=$(echo "$1" | tr '[:upper:]_' '[:lower:]-')
    for ram in $sizes; do
        stack=8K
        [ "$ram" = 256K ] || stack=16K
        rm -f "$objects/firmware.elf"
        make_mpy ports/qemu BOARD="$1" BOARD_DIR="$root/boards/$1" \
            BUILD="$objects" BOARD_RAM=$ram BOARD_STACK=$stack USER_C_MODULES="$3"
        cp "$objects/firmware.elf" "$out/$name-$ram-$2.elf"
    done
}

for board in ${@:-MPS2_AN386}; do
    for kind in $kinds; do
        case $kind in
        stock)
            (unset EXTRA_C_MODULES; build "$board" stock "")
            ;;
        usermod)
            has_usermod || continue
            links=$root/$OBJDIR/user-modules${EXTRA_C_MODULES:+-extra}
            link_modules "$links"
            build "$board" usermod "$links"
            ;;
        esac
    done
done
