# RISC-V boards.
CORE_FOLDER = rv32
QEMU_ARCH = riscv32
PORT_STARTUP = mcu/rv32/startup.o
PORT_TRAPS = mcu/rv32/interrupts.o

# GCC 12 finds no library for the architecture string that the port would choose.
RV32_ARCH = rv32imac -misa-spec=2.2

SRC_BOARD_O += shared/runtime/gchelper_native.o shared/runtime/gchelper_rv32i.o
# Some versions of the port have this one already.
SRC_BOARD_O += $(filter-out $(SRC_C:.c=.o),shared/runtime/semihosting_rv32.o)

include $(BOARD_DIR)/../qemu_common/board.mk
