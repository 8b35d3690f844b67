// CMSDK UART: interrupt-driven input with back-pressure, blocking output.
#include <stdbool.h>

#include "board.h"
#include "cortexm.h"

#include "py/runtime.h"
#include "shared/runtime/interrupt_char.h"
#include "uart.h"

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

#define CTRL_RUN (CTRL_TX_EN | CTRL_RX_EN | CTRL_RX_INT_EN)
#define CTRL_HOLD (CTRL_TX_EN | CTRL_RX_EN)

#define RING_BYTES (512)

static uint8_t ring[RING_BYTES];
static volatile uint16_t ring_put, ring_get;

static uint16_t after(uint16_t i) {
    return (i + 1) % RING_BYTES;
}

void uart_init(void) {
    UART_BAUDDIV = 16;
    UART_CTRL = CTRL_RUN;
    nvic_enable(BOARD_UART_RX_IRQ);
}

void uart_rx_irq(void) {
    UART_INT = INT_RX;
    while (UART_STATE & STATE_RX_FULL) {
        if (after(ring_put) == ring_get) {
            // No room: the byte waits in the UART and the sender in the host, nothing is lost.
            UART_CTRL = CTRL_HOLD;
            return;
        }
        uint8_t c = UART_DATA;
        if (c == mp_interrupt_char) {
            mp_sched_keyboard_interrupt();
        } else {
            ring[ring_put] = c;
            ring_put = after(ring_put);
        }
    }
}

bool uart_rx_any(void) {
    return ring_get != ring_put;
}

int uart_rx_chr(void) {
    if (!uart_rx_any()) {
        return UART_RX_NO_CHAR;
    }
    uint8_t c = ring[ring_get];
    ring_get = after(ring_get);
    if (UART_CTRL == CTRL_HOLD) {
        // Take the byte that waited; its interrupt has been and gone.
        __asm volatile ("cpsid i");
        UART_CTRL = CTRL_RUN;
        uart_rx_irq();
        __asm volatile ("cpsie i");
    }
    return c;
}

void uart_tx_strn(const char *buf, size_t len) {
    for (size_t i = 0; i < len; ++i) {
        while (UART_STATE & STATE_TX_FULL) {
        }
        UART_DATA = buf[i];
    }
}
