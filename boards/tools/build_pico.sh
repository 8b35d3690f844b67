#!/bin/sh
# Builds MicroPython's own firmware of Raspberry Pi boards, stock and with the module:
# build_pico.sh BOARD... (without any, RPI_PICO). SOURCES is what fetch_pico.py unpacked.
. boards/tools/build_env.sh
out=${OUT:-build/firmware}
kinds=${KINDS:-stock}
sources=$root/${SOURCES:-build/pico-sources}
mkdir -p "$out"

# A copy by hard links, with the libraries that Debian's tarball of MicroPython leaves out.
tree=$root/$OBJDIR/pico-tree
rm -rf "$tree"
cp -al "$MPY" "$tree"
for library in pico-sdk tinyusb mbedtls; do
    rm -rf "${tree:?}/lib/$library"
    ln -s "$sources/$library" "$tree/lib/$library"
done

# No C++ library is needed, but its name is on the link line.
rm -rf "$tree/lib/micropython-lib"
ln -s "$root/$OBJDIR/micropython-lib" "$tree/lib/micropython-lib"

shim=$root/$OBJDIR/pico-shim
mkdir -p "$shim"
arm-none-eabi-ar rcs "$shim/libstdc++.a"
printf '%s\n' 'freeze("$(PORT_DIR)/modules")' >"$shim/manifest.py"

for board in ${@:-RPI_PICO}; do
    cpu="-mcpu=cortex-m0plus -mthumb"
    [ "$board" = RPI_PICO ] || cpu="-mcpu=cortex-m33 -mthumb -march=armv8-m.main+fp+dsp -mfloat-abi=softfp -mcmse"
    for kind in $kinds; do
        module=
        [ "$kind" = stock ] || module=-DUSER_C_MODULES=$root/native_modules/micropython.cmake
        objects=$root/$OBJDIR/pico-$board-$kind
        rm -rf "$objects"
        cmake -S "$tree/ports/rp2" -B "$objects" -G "Unix Makefiles" \
            -DMICROPY_BOARD="$board" -DMICROPY_BOARD_DIR="$tree/ports/rp2/boards/$board" \
            -DMICROPY_FROZEN_MANIFEST="$shim/manifest.py" -DMICROPY_MPYCROSS="$mpy_cross" \
            -DPICO_NO_PICOTOOL=1 $module \
            -DCMAKE_CXX_FLAGS="$cpu -DPICO_CXX_DISABLE_ALLOCATION_OVERRIDES=1" \
            -DCMAKE_EXE_LINKER_FLAGS="-L$shim"
        MICROPY_MPYCROSS="$mpy_cross" make $jobs -C "$objects"
        "$python" boards/tools/uf2.py "$objects/firmware.bin" \
            "$out/$(echo "$board" | tr '[:upper:]_' '[:lower:]-')-$kind.uf2"
    done
done
