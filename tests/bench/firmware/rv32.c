// Start, counter and semihosting on QEMU's RISC-V machine `virt`.
#include "target.h"

// The compiler's -march is that of native modules, without the names of these registers.
#define CSR(text) ".option push\n.option arch, +zicsr\n" text "\n.option pop\n"

extern uint32_t _bss_start, _bss_end;
int main(void);

static uint32_t semihosting(uint32_t operation, const void *argument) {
    register uint32_t a0 __asm("a0") = operation;
    register const void *a1 __asm("a1") = argument;
    __asm volatile (
        ".option push\n"
        ".option norvc\n"
        ".balign 16\n"
        "slli x0, x0, 0x1f\n"
        "ebreak\n"
        "srai x0, x0, 7\n"
        ".option pop\n"
        : "+r" (a0) : "r" (a1) : "memory");
    return a0;
}

void target_write(const char *text) {
    semihosting(4, text);
}

void target_exit(void) {
    semihosting(0x18, (const void *)0x20026);
    for (;;) {
    }
}

// Under -icount mcycle counts virtual nanoseconds, 16 an instruction.
uint32_t target_ticks(void) {
    uint32_t low, high, again;
    do {
        __asm volatile (CSR("csrr %0, mcycleh") : "=r" (high));
        __asm volatile (CSR("csrr %0, mcycle") : "=r" (low));
        __asm volatile (CSR("csrr %0, mcycleh") : "=r" (again));
    } while (high != again);
    return high << 28 | low >> 4;
}

const uint8_t *const target_image = (const uint8_t *)TARGET_IMAGE;

static void fault(void);

__attribute__((used)) static void start(void) {
    __asm volatile (CSR("csrw mtvec, %0") : : "r" (fault));
    for (uint32_t *to = &_bss_start; to < &_bss_end; ++to) {
        *to = 0;
    }
    main();
    target_exit();
}

__attribute__((aligned(4), used)) static void fault(void) {
    uint32_t at;
    char text[] = "FAULT at 00000000\n";
    __asm volatile (CSR("csrr %0, mepc") : "=r" (at));
    for (int i = 0; i < 8; ++i) {
        text[9 + i] = "0123456789abcdef"[(at >> (28 - 4 * i)) & 15];
    }
    target_write(text);
    target_exit();
}

__attribute__((naked, section(".vectors"), used)) void _start(void) {
    __asm volatile (
        ".option push\n"
        ".option norelax\n"
        "la sp, _stack_top\n"
        ".option pop\n"
        "j start\n");
}
