// The 16550 UART, behind the PLIC.
#include <stdbool.h>

#include "board.h"
#include "cpu.h"

#define UART_DATA REG8(BOARD_UART_BASE + 0)
#define UART_IER REG8(BOARD_UART_BASE + 1)
#define UART_FCR REG8(BOARD_UART_BASE + 2)
#define UART_LSR REG8(BOARD_UART_BASE + 5)

#define IER_RX (1 << 0)
#define FCR_FIFO (1 << 0)
#define LSR_RX_ANY (1 << 0)
#define LSR_TX_EMPTY (1 << 5)

#define PLIC_PRIORITY(irq) REG(BOARD_PLIC_BASE + 4 * (irq))
#define PLIC_ENABLE REG(BOARD_PLIC_BASE + 0x2000)

static inline void uart_hw_init(void) {
    UART_FCR = FCR_FIFO;
    PLIC_PRIORITY(BOARD_UART_RX_IRQ) = 1;
    PLIC_ENABLE = 1 << BOARD_UART_RX_IRQ;
}

static inline void uart_hw_rx_irq(bool on) {
    UART_IER = on ? IER_RX : 0;
}

static inline void uart_hw_rx_ack(void) {
}

static inline bool uart_hw_rx_any(void) {
    return UART_LSR & LSR_RX_ANY;
}

static inline uint8_t uart_hw_rx(void) {
    return UART_DATA;
}

static inline void uart_hw_tx(uint8_t c) {
    while (!(UART_LSR & LSR_TX_EMPTY)) {
    }
    UART_DATA = c;
}
