#!/bin/sh
# Builds the plug-in with which Debian's assembler for ESP8266 knows ESP32's instructions:
# build_xtensa_plugin.sh FILE. Its source is that of the package binutils-source.
set -eu
out=$1
here=$(cd "$(dirname "$0")" && pwd)
archive=$(ls /usr/src/binutils/binutils-*.tar.xz 2>/dev/null | tail -n 1)
[ -n "$archive" ] || { echo "the source of binutils is missing: apt install binutils-source"; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar xf "$archive" -C "$folder" --strip-components=1 --wildcards '*/include/*' '*/bfd/*'
mkdir -p "$(dirname "$out")"
${CC:-cc} -shared -fPIC -O1 -I"$folder/include" -I"$folder" -I"$folder/bfd" -o "$out" "$here/xtensa_le.c"
