#!/bin/sh
# Builds the unix port, stock and with the module, without what needs code that
# Debian's tarball leaves out (TLS, Berkeley DB, micropython-lib).
. boards/tools/build_env.sh

build() {
    make_mpy ports/unix VARIANT=standard BUILD="$root/$OBJDIR/unix-$1" FROZEN_MANIFEST= \
        MICROPY_PY_FFI=0 MICROPY_PY_BTREE=0 MICROPY_PY_SSL=0 MICROPY_SSL_MBEDTLS=0 \
        USER_C_MODULES="$2"
    mkdir -p build/unix
    cp "$OBJDIR/unix-$1/micropython" "build/unix/$3"
}

build stock "" micropython
if has_usermod; then
    build usermod "$root/native_modules" micropython-usermod
fi
