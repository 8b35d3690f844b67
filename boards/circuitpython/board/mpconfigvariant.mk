# CircuitPython's unix port with what py/circuitpy_mpconfig.h says of small boards, without what
# needs submodules: boards/tools/build_circuitpython.sh.
FROZEN_MANIFEST =
MICROPY_FORCE_32BIT = 1
MICROPY_PY_FFI = 0
MICROPY_PY_THREAD = 0
CIRCUITPY_ULAB = 0
CIRCUITPY_MESSAGE_COMPRESSION_LEVEL = 1
SRC_C += shared-bindings/struct/__init__.c shared-module/struct/__init__.c shared-bindings/util.c
SRC_C += shared-bindings/traceback/__init__.c shared-module/traceback/__init__.c
CFLAGS += -DCIRCUITPY_STRUCT=1 -DCIRCUITPY_TRACEBACK=1
