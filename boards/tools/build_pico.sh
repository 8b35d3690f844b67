#!/bin/sh
# Builds MicroPython's own firmware of Raspberry Pi boards: build_pico.sh BOARD... (without any,
# RPI_PICO). RPI_PICO2-RISCV is RPI_PICO2 on its RISC-V cores. KINDS: stock, usermod (ours in it).
# SOURCES is what fetch_pico.py unpacked.
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

rm -rf "$tree/lib/micropython-lib"
ln -s "$root/$OBJDIR/micropython-lib" "$tree/lib/micropython-lib"

# No C++ library is needed, but its name is on the link line.
shim=$root/$OBJDIR/pico-shim
mkdir -p "$shim"
rm -f "$shim/libstdc++.a"
ar rcs "$shim/libstdc++.a"
printf '%s\n' 'freeze("$(PORT_DIR)/modules")' >"$shim/manifest.py"
: >"$shim/nosys.specs" # picolibc has none
picolibc=/usr/lib/picolibc/riscv64-unknown-elf
no_overrides=-DPICO_CXX_DISABLE_ALLOCATION_OVERRIDES=1

for name in ${@:-RPI_PICO}; do
    board=${name%-RISCV}
    more= flags= link=
    case $name in
    RPI_PICO)
        cpu="-mcpu=cortex-m0plus -mthumb" ;;
    *-RISCV)
        # Debian's compiler has picolibc in place of newlib. Its name does not say 32 bits. The scan
        # for names runs the preprocessor without flags, hence the variable. picolibc.specs would
        # bring its own start and layout.
        export C_INCLUDE_PATH=$picolibc/include
        cpu="-march=rv32imac_zicsr_zifencei_zba_zbb_zbs_zbkb -mabi=ilp32 -isystem $picolibc/include"
        more="-DMICROPY_BOARD_VARIANT=RISCV -DPICO_GCC_TRIPLE=riscv64-unknown-elf -DPICO_CLIB=picolibc"
        link="-nostartfiles -march=rv32imac -mabi=ilp32 -L$picolibc/lib/release/rv32imac/ilp32"
        # GCC 12 fails on C where it may take single-bit instructions (zbs); its assembler has them.
        flags=$cpu
        all=${cpu%% *}
        cpu="$(echo "$cpu" | sed s/_zbs//) -mno-riscv-attribute -Wa,$all" ;;
    *)
        cpu="-mcpu=cortex-m33 -mthumb -march=armv8-m.main+fp+dsp -mfloat-abi=softfp -mcmse" ;;
    esac
    for kind in $kinds; do
        module=
        [ "$kind" = stock ] || module=-DUSER_C_MODULES=$root/native_modules/micropython.cmake
        objects=$root/$OBJDIR/pico-$name-$kind
        rm -rf "$objects"
        cmake -S "$tree/ports/rp2" -B "$objects" -G "Unix Makefiles" \
            -DMICROPY_BOARD="$board" -DMICROPY_BOARD_DIR="$tree/ports/rp2/boards/$board" \
            -DMICROPY_FROZEN_MANIFEST="$shim/manifest.py" -DMICROPY_MPYCROSS="$mpy_cross" \
            -DPICO_NO_PICOTOOL=1 $more $module \
            ${flags:+"-DCMAKE_C_FLAGS=$cpu" "-DCMAKE_ASM_FLAGS=$flags"} -DCMAKE_CXX_FLAGS="$cpu $no_overrides" \
            -DCMAKE_EXE_LINKER_FLAGS="-L$shim -B$shim $link"
        MICROPY_MPYCROSS="$mpy_cross" make $jobs -C "$objects"
        file=$(echo "$name" | tr '[:upper:]_' '[:lower:]-')-$kind
        "$python" boards/tools/uf2.py "$objects/firmware.bin" "$out/$file.uf2" "$name"
    done
done
