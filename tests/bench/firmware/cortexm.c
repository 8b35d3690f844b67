// Start, SysTick and semihosting on QEMU's Cortex-M machines.
#include "target.h"

#define SYSTICK_CTRL (*(volatile uint32_t *)0xe000e010)
#define SYSTICK_LOAD (*(volatile uint32_t *)0xe000e014)
#define SYSTICK_VAL (*(volatile uint32_t *)0xe000e018)
#define SCB_CCR (*(volatile uint32_t *)0xe000ed14)
#define SCB_CPACR (*(volatile uint32_t *)0xe000ed88)
#define CCR_UNALIGN_TRP (1 << 3)

extern uint32_t _stack_top, _bss_start, _bss_end;
int main(void);

static uint32_t semihosting(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile ("bkpt 0xab" : "+r" (r0) : "r" (r1) : "memory");
    return r0;
}

void target_write(const char *text) {
    semihosting(4, text);
}

void target_exit(void) {
    semihosting(0x18, (const void *)0x20026);
    for (;;) {
    }
}

uint32_t target_ticks(void) {
    return 0xffffff - SYSTICK_VAL;
}

const uint8_t *const target_image = (const uint8_t *)TARGET_IMAGE;

__attribute__((used)) static void start(void) {
    // As on the smallest boards: an unaligned word is a fault.
    SCB_CCR |= CCR_UNALIGN_TRP;
#if __ARM_FP
    // The compiler keeps integers in the registers of the FPU, too.
    SCB_CPACR |= 0xf << 20;
    __asm volatile ("dsb\nisb");
#endif
    for (uint32_t *to = &_bss_start; to < &_bss_end; ++to) {
        *to = 0;
    }
    SYSTICK_LOAD = 0xffffff;
    SYSTICK_VAL = 0;
    SYSTICK_CTRL = 5;
    main();
    target_exit();
}

__attribute__((used)) static void fault_at(const uint32_t *frame) {
    char text[] = "FAULT at 00000000\n";
    for (int i = 0; i < 8; ++i) {
        text[9 + i] = "0123456789abcdef"[(frame[6] >> (28 - 4 * i)) & 15];
    }
    target_write(text);
    target_exit();
}

__attribute__((naked)) static void fault(void) {
    __asm volatile ("mov r0, sp\nbl fault_at\n");
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    [0] = &_stack_top,
    [1] = start,
    [2 ... 15] = fault,
};

#ifndef TARGET_LIBC

// The C library's reads unaligned words, which this core is set to refuse.
void *memcpy(void *to, const void *from, unsigned int n) {
    for (unsigned int i = 0; i < n; ++i) {
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    }
    return to;
}

void *memset(void *to, int v, unsigned int n) {
    for (unsigned int i = 0; i < n; ++i) {
        ((uint8_t *)to)[i] = (uint8_t)v;
    }
    return to;
}

#endif
