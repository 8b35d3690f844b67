// Addresses and numbers of QEMU's mps2-an500 machine.
#define BOARD_CLOCK_HZ (25000000)

#define BOARD_UART_BASE (0x40004000)
#define BOARD_UART_RX_IRQ (0)

#define BOARD_TIMER_BASE (0x40000000)
#define BOARD_TIMER_IRQ (8)

// The machine's memory that QEMU backs with a host file: the disk, then the mapped
// ROMFS. The emulator's helper knows this split.
#define BOARD_DISK_BASE (0x60000000)
#define BOARD_DISK_BYTES (8 * 1024 * 1024)
#define BOARD_ROMFS_BASE (BOARD_DISK_BASE + BOARD_DISK_BYTES)
#define BOARD_ROMFS_BYTES (8 * 1024 * 1024)
