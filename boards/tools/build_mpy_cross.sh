#!/bin/sh
# Builds mpy-cross from the source tree, for freezing and for native modules.
. boards/tools/build_env.sh
make_mpy mpy-cross BUILD="$root/$OBJ/mpy-cross" PROG=mpy-cross
