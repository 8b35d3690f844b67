# Arm MPS2 with the AN386 image: Cortex-M4F, as QEMU emulates it.
QEMU_MACHINE = mps2-an386
CFLAGS += -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard
CFLAGS += -DMICROPY_HW_MCU_NAME='"Cortex-M4F"'
MPY_CROSS_FLAGS += -march=armv7emsp

include $(BOARD_DIR)/../qemu_common/cortexm.mk
