#!/bin/sh
# Installs the Debian/Ubuntu packages that the builds need and that are missing:
# packages.sh PYTHON [MORE PACKAGES]
set -eu
python=$1
shift

if ! command -v apt-get >/dev/null; then
    for tool in qemu-system-arm arm-none-eabi-gcc gcc make git xz; do
        command -v "$tool" >/dev/null ||
            { echo "$tool is missing, and this is no Debian or Ubuntu: please install it."; exit 1; }
    done
    exit 0
fi

missing=
for package in build-essential ca-certificates git xz-utils \
    qemu-system-arm gcc-arm-none-eabi libnewlib-arm-none-eabi "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
        missing="$missing $package"
done
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing $(basename "$python")-venv"
"$python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    missing="$missing $(basename "$python")-dev"
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
    sudo=sudo
    command -v sudo >/dev/null || {
        echo "There is no sudo; as root: apt-get install -y --no-install-recommends$missing"
        exit 1
    }
fi
export DEBIAN_FRONTEND=noninteractive
echo "* $sudo apt-get update"
$sudo apt-get update
echo "* $sudo apt-get install -y --no-install-recommends$missing"
$sudo apt-get install -y --no-install-recommends $missing
