// Time and alarms from the CLINT.
#include "board.h"
#include "cpu.h"
#include "system.h"

#define MTIMECMP_LOW REG(BOARD_CLINT_BASE + 0x4000)
#define MTIMECMP_HIGH REG(BOARD_CLINT_BASE + 0x4004)
#define MTIME_LOW REG(BOARD_CLINT_BASE + 0xbff8)
#define MTIME_HIGH REG(BOARD_CLINT_BASE + 0xbffc)

static uint64_t at_start;

static uint64_t mtime(void) {
    for (;;) {
        uint32_t high = MTIME_HIGH;
        uint32_t low = MTIME_LOW;
        if (high == MTIME_HIGH) {
            return (uint64_t)high << 32 | low;
        }
    }
}

void clock_init(void) {
    at_start = mtime();
}

uint64_t clock_ticks(void) {
    return mtime() - at_start;
}

// The alarm only ends a sleep with interrupts off, and is cleared before they would be served.
void clock_alarm_set(uint32_t ticks) {
    uint64_t at = mtime() + ticks;
    MTIMECMP_HIGH = UINT32_MAX;
    MTIMECMP_LOW = at;
    MTIMECMP_HIGH = at >> 32;
    CSR_SET(mie, MIE_TIMER);
}

void clock_alarm_clear(void) {
    CSR_CLEAR(mie, MIE_TIMER);
}
