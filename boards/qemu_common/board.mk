# What all emulated boards share. Included by a board's mpconfigboard.mk, inside
# MicroPython's ports/qemu/Makefile, whose source tree stays as it was unpacked.
COMMON := $(abspath $(BOARD_DIR)/../qemu_common)

BOARD_RAM ?= 256K
BOARD_STACK ?= 8K

QEMU_ARCH = arm
LDSCRIPT = $(BOARD_DIR)/board.ld
LDFLAGS += -L$(COMMON) -Wl,--defsym=_board_ram_bytes=$(BOARD_RAM)
LDFLAGS += -Wl,--defsym=_board_stack_bytes=$(BOARD_STACK)

# UNALIGN_TRP is set at reset, so the compiler must not use unaligned access itself.
CFLAGS += -mthumb -mno-unaligned-access
CFLAGS += -I$(BOARD_DIR) -I$(COMMON) -DMP_CONFIGFILE='"$(COMMON)/mpconfig.h"'

MICROPY_VFS_LFS2 = 1
FROZEN_MANIFEST = $(COMMON)/manifest.py

SRC_BOARD_O += shared/runtime/gchelper_native.o shared/runtime/gchelper_thumb2.o
SRC_BOARD_O += qemu_common/disk.o qemu_common/modboard.o qemu_common/romfs.o
SRC_QSTR += $(COMMON)/disk.c $(COMMON)/modboard.c
vpath %.c $(abspath $(COMMON)/..)

# An explicit rule beats the port's pattern rule: these five replace the port's own
# files, which have no clock, no Ctrl-C, no poll, no file system and a fixed heap.
$(BUILD)/main.o: $(COMMON)/main.c
	$(call compile_c)
$(BUILD)/uart.o: $(COMMON)/uart.c
	$(call compile_c)
$(BUILD)/mphalport.o: $(COMMON)/mphalport.c
	$(call compile_c)
$(BUILD)/mcu/arm/startup.o: $(COMMON)/startup.c
	$(call compile_c)
$(BUILD)/mcu/arm/errorhandler.o: $(COMMON)/fault.c
	$(call compile_c)
