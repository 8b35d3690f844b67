// The entry, where QEMU's loader puts the program counter.
#include "board.h"
#include "cpu.h"
#include "memory.h"
#include "system.h"

#define FINISHER_FAIL (0x00013333)
#define FINISHER_RESET (0x7777)

void trap_entry(void);
void Reset_Handler(void);

__attribute__((used)) static void start(void) {
    CSR_WRITE(mtvec, trap_entry);
    CSR_SET(mie, MIE_EXTERNAL);
    irqs_on();
    system_start();
}

__attribute__((naked, section(".isr_vector"))) void Reset_Handler(void) {
    __asm volatile (
        "la sp, _estack\n"
        "tail %0\n"
        : : "i" (start));
}

void system_reset(void) {
    REG(BOARD_FINISHER) = FINISHER_RESET;
    for (;;) {
    }
}

void system_halt(void) {
    REG(BOARD_FINISHER) = FINISHER_FAIL;
    for (;;) {
    }
}
