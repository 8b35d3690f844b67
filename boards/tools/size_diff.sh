#!/bin/sh
# Compares the native modules' code with that of another git revision: size_diff.sh REV ARCH...
. boards/tools/build_env.sh
commit=$(git rev-parse --verify --quiet --short "$1^{commit}") ||
    { echo "size-diff: there is no revision '$1'; say make size-diff REV=<revision>."; exit 1; }
shift
old=build/size-diff/$commit
rm -rf "$old"
mkdir -p "$old"
git archive "$commit" native_modules | tar x -C "$old"
SOURCE=$old/native_modules/microzo OUT=$old/natmod OBJECTS=$old/obj \
    boards/tools/build_natmod.sh "$@" >"$old/build.log" 2>&1 ||
    { tail -n 20 "$old/build.log"; echo "size-diff: $commit does not build"; exit 1; }
"$python" boards/tools/natmod_size.py native_modules/microzo build/natmod "$OBJDIR" \
    --than "$old/native_modules/microzo" "$old/natmod" "$old/obj" --archs "$@"
