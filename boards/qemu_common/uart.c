// Interrupt-driven input with back-pressure, blocking output.
#include "uart_hw.h"
#include "system.h"

#include "py/runtime.h"
#include "shared/runtime/interrupt_char.h"
#include "uart.h"

#define RING_BYTES (512)

static uint8_t ring[RING_BYTES];
static volatile uint16_t ring_put, ring_get;
static volatile bool held;

int uart_rx_any(void);

static uint16_t after(uint16_t i) {
    return (i + 1) % RING_BYTES;
}

void uart_init(void) {
    uart_hw_init();
    uart_hw_rx_irq(true);
}

void uart_rx_irq(void) {
    uart_hw_rx_ack();
    while (uart_hw_rx_any()) {
        if (after(ring_put) == ring_get) {
            // No room: the byte waits in the UART and the sender in the host, nothing is lost.
            held = true;
            uart_hw_rx_irq(false);
            return;
        }
        uint8_t c = uart_hw_rx();
        if (c == mp_interrupt_char) {
            mp_sched_keyboard_interrupt();
        } else {
            ring[ring_put] = c;
            ring_put = after(ring_put);
        }
    }
}

int uart_rx_any(void) {
    return ring_get != ring_put;
}

int uart_rx_chr(void) {
    if (!uart_rx_any()) {
        return UART_RX_NO_CHAR;
    }
    uint8_t c = ring[ring_get];
    ring_get = after(ring_get);
    if (held) {
        // Take the byte that waited; its interrupt has been and gone.
        irqs_off();
        held = false;
        uart_hw_rx_irq(true);
        uart_rx_irq();
        irqs_on();
    }
    return c;
}

void uart_tx_strn(const char *buf, size_t len) {
    for (size_t i = 0; i < len; ++i) {
        uart_hw_tx(buf[i]);
    }
}
