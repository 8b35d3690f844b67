// The CMSDK UART.
#include <stdbool.h>

#include "board.h"
#include "cpu.h"

#define UART_DATA REG(BOARD_UART_BASE + 0x00)
#define UART_STATE REG(BOARD_UART_BASE + 0x04)
#define UART_CTRL REG(BOARD_UART_BASE + 0x08)
#define UART_INT REG(BOARD_UART_BASE + 0x0c)
#define UART_BAUDDIV REG(BOARD_UART_BASE + 0x10)

#define STATE_TX_FULL (1 << 0)
#define STATE_RX_FULL (1 << 1)
#define CTRL_TX_EN (1 << 0)
#define CTRL_RX_EN (1 << 1)
#define CTRL_RX_INT_EN (1 << 3)
#define INT_RX (1 << 1)

static inline void uart_hw_init(void) {
    UART_BAUDDIV = 16;
    irq_enable(BOARD_UART_RX_IRQ);
}

static inline void uart_hw_rx_irq(bool on) {
    UART_CTRL = CTRL_TX_EN | CTRL_RX_EN | (on ? CTRL_RX_INT_EN : 0);
}

static inline void uart_hw_rx_ack(void) {
    UART_INT = INT_RX;
}

static inline bool uart_hw_rx_any(void) {
    return UART_STATE & STATE_RX_FULL;
}

static inline uint8_t uart_hw_rx(void) {
    return UART_DATA;
}

static inline void uart_hw_tx(uint8_t c) {
    while (UART_STATE & STATE_TX_FULL) {
    }
    UART_DATA = c;
}
