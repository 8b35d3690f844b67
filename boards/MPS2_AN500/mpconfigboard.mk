# Arm MPS2 with the AN500 image: Cortex-M7, as QEMU emulates it.
QEMU_MACHINE = mps2-an500
CFLAGS += -mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard
CFLAGS += -DMICROPY_HW_MCU_NAME='"Cortex-M7"'
MPY_CROSS_FLAGS += -march=armv7emdp

include $(BOARD_DIR)/../qemu_common/cortexm.mk
