// Addresses and numbers of QEMU's virt machine.
#define BOARD_CLOCK_HZ (10000000)

#define BOARD_UART_BASE (0x10000000)
#define BOARD_UART_RX_IRQ (10)

#define BOARD_PLIC_BASE (0x0c000000)
#define BOARD_CLINT_BASE (0x02000000)
#define BOARD_FINISHER (0x00100000)

// The machine's memory that QEMU backs with a host file: the disk, then the mapped
// ROMFS. The emulator's helper knows this split.
#define BOARD_DISK_BASE (0x80000000)
#define BOARD_DISK_BYTES (8 * 1024 * 1024)
#define BOARD_ROMFS_BASE (BOARD_DISK_BASE + BOARD_DISK_BYTES)
#define BOARD_ROMFS_BYTES (8 * 1024 * 1024)
