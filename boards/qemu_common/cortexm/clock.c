// Time from SysTick, alarms from the CMSDK timer.
#include "board.h"
#include "cpu.h"
#include "system.h"

#define SYSTICK_TOP (0xffffff)
#define ICSR_PENDSTSET (1 << 26)

#define TIMER_CTRL REG(BOARD_TIMER_BASE + 0x00)
#define TIMER_VALUE REG(BOARD_TIMER_BASE + 0x04)
#define TIMER_RELOAD REG(BOARD_TIMER_BASE + 0x08)
#define TIMER_INT REG(BOARD_TIMER_BASE + 0x0c)
#define TIMER_CTRL_RUN ((1 << 0) | (1 << 3))

void systick_irq(void);
void timer_irq(void);

static volatile uint32_t wraps;

void clock_init(void) {
    SYST_RVR = SYSTICK_TOP;
    SYST_CVR = 0;
    SYST_CSR = 7;
    irq_enable(BOARD_TIMER_IRQ);
}

void systick_irq(void) {
    wraps += 1;
}

uint64_t clock_ticks(void) {
    for (;;) {
        uint32_t w = wraps;
        uint32_t left = SYST_CVR;
        if (w == wraps && !(SCB_ICSR & ICSR_PENDSTSET)) {
            return (uint64_t)w * (SYSTICK_TOP + 1) + (SYSTICK_TOP - left);
        }
    }
}

void clock_alarm_set(uint32_t ticks) {
    TIMER_RELOAD = 0;
    TIMER_VALUE = ticks;
    TIMER_CTRL = TIMER_CTRL_RUN;
}

void clock_alarm_clear(void) {
    TIMER_CTRL = 0;
}

void timer_irq(void) {
    TIMER_CTRL = 0;
    TIMER_INT = 1;
}
