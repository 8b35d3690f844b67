# Arm's MPS2 boards.
CORE_FOLDER = cortexm
QEMU_ARCH = arm
PORT_STARTUP = mcu/arm/startup.o
PORT_TRAPS = mcu/arm/errorhandler.o

# UNALIGN_TRP is set at reset, so the compiler must not use unaligned access itself.
CFLAGS += -mthumb -mno-unaligned-access

# How the collector reads the registers: a board may have its own choice.
GCHELPER ?= gchelper_native.o gchelper_thumb2.o
SRC_BOARD_O += $(addprefix shared/runtime/,$(GCHELPER))

include $(BOARD_DIR)/../qemu_common/board.mk
