#!/bin/sh
# Builds firmware of emulated boards, each RAM size, stock and with the module:
# build_firmware.sh BOARD... (folders of boards/; without any, MPS2_AN386)
# EXTRA_C_MODULES go into the latter (build_env.sh).
. boards/tools/build_env.sh
out=${OUT:-build/firmware}
kinds=${KINDS:-stock usermod}
sizes=${SIZES:-256K 1M}
mkdir -p "$out"

# build BOARD KIND SUFFIX USER_C_MODULES: compiles once and links for each RAM size.
build() {
    objects=$root/$OBJDIR/firmware-$1-$2$3
    name=$(echo "$1" | tr '[:upper:]_' '[:lower:]-')
    for ram in $sizes; do
        stack=8K
        [ "$ram" = 256K ] || stack=16K
        rm -f "$objects/firmware.elf"
        make_mpy ports/qemu BOARD="$1" BOARD_DIR="$root/boards/$1" \
            BUILD="$objects" BOARD_RAM=$ram BOARD_STACK=$stack USER_C_MODULES="$4"
        cp "$objects/firmware.elf" "$out/$name-$ram-$2.elf"
    done
}

for board in ${@:-MPS2_AN386}; do
    for kind in $kinds; do
        case $kind in
        stock)
            build "$board" stock "" ""
            ;;
        usermod)
            has_usermod || continue
            links=$root/$OBJDIR/user-modules$extra
            link_modules "$links"
            build "$board" usermod "$extra" "$links"
            ;;
        esac
    done
done
