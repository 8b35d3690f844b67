# Arm MPS2 with the AN385 image: Cortex-M3, as QEMU emulates it.
QEMU_MACHINE = mps2-an385
CFLAGS += -mcpu=cortex-m3
CFLAGS += -DMICROPY_HW_MCU_NAME='"Cortex-M3"'
MPY_CROSS_FLAGS += -march=armv7m

include $(BOARD_DIR)/../qemu_common/cortexm.mk
