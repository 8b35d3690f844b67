# Arm MPS2 with the AN505 image: Cortex-M33, as QEMU emulates it, always in the secure state.
QEMU_MACHINE = mps2-an505
CFLAGS += -mcpu=cortex-m33 -mfpu=fpv5-sp-d16 -mfloat-abi=hard
CFLAGS += -DMICROPY_HW_MCU_NAME='"Cortex-M33"'
MPY_CROSS_FLAGS += -march=armv7emsp
# The assembler file says that it is for a Cortex-M4, which the linker refuses here.
GCHELPER = gchelper_generic.o

include $(BOARD_DIR)/../qemu_common/cortexm.mk
