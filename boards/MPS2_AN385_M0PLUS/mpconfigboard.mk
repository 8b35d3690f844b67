# Firmware for a Cortex-M0+, run by the Cortex-M3 of QEMU's mps2-an385, which executes all
# of its instructions; the only Cortex-M0 that QEMU emulates has 16 KB of RAM.
QEMU_MACHINE = mps2-an385
CFLAGS += -mcpu=cortex-m0plus
CFLAGS += -DMICROPY_HW_MCU_NAME='"Cortex-M0+"'
CFLAGS += -DMICROPY_EMIT_THUMB_ARMV7M=0 -DMICROPY_EMIT_INLINE_THUMB_FLOAT=0
MPY_CROSS_FLAGS += -march=armv6m
GCHELPER = gchelper_native.o gchelper_thumb1.o

include $(BOARD_DIR)/../qemu_common/cortexm.mk
