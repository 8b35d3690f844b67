# QEMU's virt machine with a 32-bit RISC-V core.
QEMU_MACHINE = virt
CFLAGS += -DMICROPY_HW_MCU_NAME='"RV32IMAC"'
MPY_CROSS_FLAGS += -march=rv32imc

include $(BOARD_DIR)/../qemu_common/rv32.mk
