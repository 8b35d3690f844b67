# What all emulated boards share. Included by cortexm.mk and rv32.mk, from a board's
# mpconfigboard.mk, inside MicroPython's ports/qemu/Makefile, whose source tree stays as it
# was unpacked. CORE_FOLDER is the folder with what belongs to the core: cortexm or rv32.
COMMON := $(abspath $(BOARD_DIR)/../qemu_common)

BOARD_RAM ?= 256K
BOARD_STACK ?= 8K

LDSCRIPT = $(BOARD_DIR)/board.ld
# The port links by the compiler, and from 1.29 on by the linker itself.
COMMA := ,
TO_LINKER := $(if $(shell grep -F '$$(CC) $$(LDFLAGS)' $(firstword $(MAKEFILE_LIST))),-Wl$(COMMA))
LDFLAGS += -L$(COMMON) $(TO_LINKER)--defsym=_board_ram_bytes=$(BOARD_RAM)
LDFLAGS += $(TO_LINKER)--defsym=_board_stack_bytes=$(BOARD_STACK)

CFLAGS += -I$(BOARD_DIR) -I$(COMMON) -I$(COMMON)/$(CORE_FOLDER) -DMP_CONFIGFILE='"$(COMMON)/mpconfig.h"'

MICROPY_VFS_LFS2 = 1
FROZEN_MANIFEST = $(COMMON)/manifest.py

SRC_BOARD_O += $(addprefix qemu_common/,startup.o fault.o disk.o modboard.o $(CORE_FOLDER)/clock.o)
# From 1.29 on the port has a file for the ROMFS, which ours replaces.
SRC_BOARD_O += $(if $(wildcard vfs_rom_ioctl.c),,qemu_common/romfs.o)
SRC_QSTR += $(COMMON)/disk.c $(COMMON)/modboard.c
vpath %.c $(abspath $(COMMON)/..)

# An explicit rule beats the port's pattern rule: these replace the port's own files,
# which have no clock, no Ctrl-C, no poll, no file system and a fixed heap.
$(BUILD)/main.o: $(COMMON)/main.c
	$(call compile_c)
$(BUILD)/vfs_rom_ioctl.o: $(COMMON)/romfs.c
	$(call compile_c)
$(BUILD)/uart.o: $(COMMON)/uart.c
	$(call compile_c)
$(BUILD)/mphalport.o: $(COMMON)/mphalport.c
	$(call compile_c)
$(BUILD)/$(PORT_STARTUP): $(COMMON)/$(CORE_FOLDER)/startup.c
	$(call compile_c)
$(BUILD)/$(PORT_TRAPS): $(COMMON)/$(CORE_FOLDER)/traps.c
	$(call compile_c)
