#!/bin/sh
# Builds MicroPython's unix port with the limits of a CircuitPython board, build/unix/micropython-limits.
# With CIRCUITPY_DIR=<tree of CircuitPython>, also that tree's own unix port, build/unix/circuitpython;
# the tree stays as it is.
. boards/tools/build_env.sh
mkdir -p build/unix

make_mpy ports/unix VARIANT=limits VARIANT_DIR="$root/boards/circuitpython/limits" \
    BUILD="$root/$OBJDIR/unix-limits" PROG=micropython
cp "$OBJDIR/unix-limits/micropython" build/unix/micropython-limits
[ -n "${CIRCUITPY_DIR:-}" ] || exit 0

# A copy by hard links: its build wants a tag of a repository, and its messages a Huffman code.
tree=$root/$OBJDIR/circuitpython-tree
rm -rf "$tree"
mkdir "$tree"
for part in py ports/unix extmod lib shared shared-bindings shared-module supervisor tools mpy-cross data locale; do
    mkdir -p "$tree/$(dirname "$part")"
    cp -al "$CIRCUITPY_DIR/$part" "$tree/$part" 2>/dev/null || cp -a "$CIRCUITPY_DIR/$part" "$tree/$part"
done
version=${CIRCUITPY_VERSION:-10.0.0}
git -C "$tree" init -q
git -C "$tree" -c user.name=microzo -c user.email=microzo@localhost commit -q --allow-empty -m tree
git -C "$tree" tag "$version"

environment=$root/build/circuitpython-env
[ -x "$environment/bin/python" ] || "$python" -m venv "$environment"
"$environment/bin/python" -m pip install -q --disable-pip-version-check huffman

MPY=$tree
python=$environment/bin/python
make_mpy ports/unix VARIANT=board VARIANT_DIR="$root/boards/circuitpython/board" \
    BUILD="$root/$OBJDIR/unix-circuitpython" PROG=circuitpython
cp "$OBJDIR/unix-circuitpython/circuitpython" build/unix/circuitpython
