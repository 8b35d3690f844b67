// Clock, waiting and standard input/output.
#include <stdbool.h>

#include "board.h"
#include "cpu.h"
#include "system.h"

#include "py/runtime.h"
#include "py/mphal.h"
#include "py/stream.h"
#include "uart.h"

#define ALARM_MAX_MS (1000)
#define TICKS_PER_US (BOARD_CLOCK_HZ / 1000000)

int uart_rx_any(void);

mp_uint_t mp_hal_ticks_ms(void) {
    return clock_ticks() / (TICKS_PER_US * 1000);
}

mp_uint_t mp_hal_ticks_us(void) {
    return clock_ticks() / TICKS_PER_US;
}

mp_uint_t mp_hal_ticks_cpu(void) {
    return clock_ticks();
}

// There is no calendar: the time is that since the start.
uint64_t mp_hal_time_ns(void) {
    return clock_ticks() * (1000 / TICKS_PER_US);
}

void mp_hal_delay_us(mp_uint_t us) {
    uint64_t end = clock_ticks() + (uint64_t)us * TICKS_PER_US;
    while (clock_ticks() < end) {
    }
}

void mp_hal_delay_ms(mp_uint_t ms) {
    uint64_t end = clock_ticks() + (uint64_t)ms * TICKS_PER_US * 1000;
    for (;;) {
        uint64_t now = clock_ticks();
        if (now >= end) {
            mp_event_handle_nowait();
            return;
        }
        mp_event_wait_ms((end - now) / (TICKS_PER_US * 1000) + 1);
    }
}

// Sleeps until input, an alarm, or the end of the given time (-1: none).
void board_wait(int timeout_ms) {
    if (timeout_ms == 0) {
        return;
    }
    // With interrupts masked nothing can slip in between the look and the sleep,
    // and a pending one still ends the sleep.
    irqs_off();
    if (timeout_ms > 0) {
        clock_alarm_set((timeout_ms < ALARM_MAX_MS ? timeout_ms : ALARM_MAX_MS) * TICKS_PER_US * 1000);
    }
    if (!uart_rx_any() && MP_STATE_MAIN_THREAD(mp_pending_exception) == MP_OBJ_NULL) {
        irq_wait();
    }
    clock_alarm_clear();
    irqs_on();
}

uintptr_t mp_hal_stdio_poll(uintptr_t flags) {
    uintptr_t ready = flags & MP_STREAM_POLL_WR;
    if ((flags & MP_STREAM_POLL_RD) && uart_rx_any()) {
        ready |= MP_STREAM_POLL_RD;
    }
    return ready;
}

int mp_hal_stdin_rx_chr(void) {
    for (;;) {
        int c = uart_rx_chr();
        if (c != UART_RX_NO_CHAR) {
            return c;
        }
        mp_event_wait_indefinite();
    }
}

mp_uint_t mp_hal_stdout_tx_strn(const char *str, size_t len) {
    uart_tx_strn(str, len);
    return len;
}
