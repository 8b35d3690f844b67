#!/bin/sh
# Builds mpy-cross from the source tree, for freezing and for native modules.
. boards/tools/build_env.sh
make_mpy mpy-cross BUILD="$root/$OBJDIR/mpy-cross" PROG=mpy-cross
