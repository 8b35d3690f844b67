# MicroPython's unix port with the limits of a small CircuitPython board: boards/tools/build_circuitpython.sh.
FROZEN_MANIFEST =
MICROPY_FORCE_32BIT = 1
MICROPY_PY_FFI = 0
MICROPY_PY_BTREE = 0
MICROPY_PY_SSL = 0
MICROPY_PY_THREAD = 0
# main.c alone gives the stack of Python calls its size.
$(BUILD)/main.o: CFLAGS += -include $(VARIANT_DIR)/pystack.h
