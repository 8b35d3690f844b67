#!/bin/sh
# Builds the unix port, stock and with the module, without what needs code that
# Debian's tarball leaves out (TLS, Berkeley DB, micropython-lib).
# EXTRA_C_MODULES go into the latter (build_env.sh).
# SANITIZE=1: only the one with the module, under the address and undefined-behaviour sanitizers.
. boards/tools/build_env.sh

build() {
    make_mpy ports/unix VARIANT=standard BUILD="$root/$OBJDIR/unix-$1" FROZEN_MANIFEST= \
        MICROPY_PY_FFI=0 MICROPY_PY_BTREE=0 MICROPY_PY_SSL=0 MICROPY_SSL_MBEDTLS=0 \
        USER_C_MODULES="$2" CFLAGS_EXTRA="${flags:-}" LDFLAGS_EXTRA="${flags:-}"
    mkdir -p "${OUT:-build/unix}"
    cp "$OBJDIR/unix-$1/micropython" "${OUT:-build/unix}/$3"
}

if [ -n "${SANITIZE:-}" ]; then
    flags="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
    # As MicroPython's own CI: its interpreter passes NULL with a length of 0.
    flags="$flags -fno-sanitize=nonnull-attribute --param asan-use-after-return=0"
    build sanitize "$root/native_modules" micropython-sanitize
    exit
fi
case ${KINDS:-stock usermod} in *stock*) build stock "" micropython ;; esac
if has_usermod; then
    modules=$root/native_modules
    if [ -n "$extra" ]; then
        modules=$root/$OBJDIR/user-modules$extra
        link_modules "$modules"
    fi
    build "usermod$extra" "$modules" micropython-usermod
fi
