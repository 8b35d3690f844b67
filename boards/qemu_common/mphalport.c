// Clock, waiting and standard input/output.
#include <stdbool.h>

#include "board.h"
#include "cortexm.h"

#include "py/runtime.h"
#include "py/mphal.h"
#include "py/stream.h"
#include "uart.h"

#define SYSTICK_TOP (0xffffff)
#define ICSR_PENDSTSET (1 << 26)

#define TIMER_CTRL REG(BOARD_TIMER_BASE + 0x00)
#define TIMER_VALUE REG(BOARD_TIMER_BASE + 0x04)
#define TIMER_RELOAD REG(BOARD_TIMER_BASE + 0x08)
#define TIMER_INT REG(BOARD_TIMER_BASE + 0x0c)
#define TIMER_CTRL_RUN ((1 << 0) | (1 << 3))
#define TIMER_MAX_MS (1000)

#define TICKS_PER_US (BOARD_CPU_HZ / 1000000)

bool uart_rx_any(void);

static volatile uint32_t wraps;

void mphal_init(void) {
    SYST_RVR = SYSTICK_TOP;
    SYST_CVR = 0;
    SYST_CSR = 7;
    nvic_enable(BOARD_TIMER_IRQ);
}

void systick_irq(void) {
    wraps += 1;
}

static uint64_t ticks(void) {
    for (;;) {
        uint32_t w = wraps;
        uint32_t left = SYST_CVR;
        if (w == wraps && !(SCB_ICSR & ICSR_PENDSTSET)) {
            return (uint64_t)w * (SYSTICK_TOP + 1) + (SYSTICK_TOP - left);
        }
    }
}

mp_uint_t mp_hal_ticks_ms(void) {
    return ticks() / (TICKS_PER_US * 1000);
}

mp_uint_t mp_hal_ticks_us(void) {
    return ticks() / TICKS_PER_US;
}

mp_uint_t mp_hal_ticks_cpu(void) {
    return ticks();
}

// There is no calendar: the time is that since the start.
uint64_t mp_hal_time_ns(void) {
    return ticks() * (1000 / TICKS_PER_US);
}

void mp_hal_delay_us(mp_uint_t us) {
    uint64_t end = ticks() + (uint64_t)us * TICKS_PER_US;
    while (ticks() < end) {
    }
}

void mp_hal_delay_ms(mp_uint_t ms) {
    uint64_t end = ticks() + (uint64_t)ms * TICKS_PER_US * 1000;
    for (;;) {
        uint64_t now = ticks();
        if (now >= end) {
            mp_event_handle_nowait();
            return;
        }
        mp_event_wait_ms((end - now) / (TICKS_PER_US * 1000) + 1);
    }
}

void timer_irq(void) {
    TIMER_CTRL = 0;
    TIMER_INT = 1;
}

// Sleeps until input, an alarm, or the end of the given time (-1: none).
void board_wait(int timeout_ms) {
    if (timeout_ms == 0) {
        return;
    }
    if (timeout_ms > 0) {
        uint32_t ms = timeout_ms < TIMER_MAX_MS ? timeout_ms : TIMER_MAX_MS;
        TIMER_RELOAD = 0;
        TIMER_VALUE = ms * TICKS_PER_US * 1000;
        TIMER_CTRL = TIMER_CTRL_RUN;
    }
    // With interrupts masked nothing can slip in between the look and the sleep,
    // and a pending one still ends the sleep.
    __asm volatile ("cpsid i");
    if (!uart_rx_any() && MP_STATE_MAIN_THREAD(mp_pending_exception) == MP_OBJ_NULL) {
        __asm volatile ("wfi");
    }
    __asm volatile ("cpsie i");
    TIMER_CTRL = 0;
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
