// Start, register windows and semihosting on QEMU's Xtensa machine `sim`.
#include <stddef.h>

#include "target.h"

extern uint32_t _bss_start, _bss_end;
int main(void);

static int simcall(int operation, int first, const void *second, uint32_t third) {
    register int a2 __asm("a2") = operation;
    register int a3 __asm("a3") = first;
    register const void *a4 __asm("a4") = second;
    register uint32_t a5 __asm("a5") = third;
    __asm volatile ("simcall" : "+r" (a2), "+r" (a3) : "r" (a4), "r" (a5) : "memory");
    return a2;
}

// What the compiler and cases.c call; the library of Debian's compiler is for another ABI.
void *memset(void *to, int value, size_t n) {
    uint8_t *out = to;
    while (n--) {
        *out++ = (uint8_t)value;
    }
    return to;
}

size_t strlen(const char *text) {
    const char *end = text;
    while (*end) {
        ++end;
    }
    return (size_t)(end - text);
}

int strcmp(const char *a, const char *b) {
    while (*a && *a == *b) {
        ++a;
        ++b;
    }
    return (uint8_t)*a - (uint8_t)*b;
}

void target_write(const char *text) {
    simcall(4, 1, text, strlen(text));
}

void target_exit(void) {
    simcall(1, 0, NULL, 0);
    for (;;) {
    }
}

uint32_t target_ticks(void) {
    uint32_t count;
    __asm volatile ("rsr %0, ccount" : "=r" (count));
    return count;
}

const uint8_t *const target_image = (const uint8_t *)TARGET_IMAGE;

__attribute__((used)) static void start(void) {
    for (uint32_t *to = &_bss_start; to < &_bss_end; ++to) {
        *to = 0;
    }
    main();
    target_exit();
}

__attribute__((used)) static void fault(void) {
    target_write("FAULT: an exception\n");
    target_exit();
}

// A call that finds no free registers, or a return whose caller's were saved, comes here: each of
// the six has 64 bytes. The frame of the one above tells where its registers go.
__asm (
    ".section .vectors, \"ax\"\n"
    ".balign 4096\n"
    "vectors:\n"
    "s32e a0, a5, -16\n s32e a1, a5, -12\n s32e a2, a5, -8\n s32e a3, a5, -4\n rfwo\n"
    ".org vectors + 0x40\n"
    "l32e a0, a5, -16\n l32e a1, a5, -12\n l32e a2, a5, -8\n l32e a3, a5, -4\n rfwu\n"
    ".org vectors + 0x80\n"
    "s32e a0, a9, -16\n l32e a0, a1, -12\n s32e a1, a9, -12\n s32e a2, a9, -8\n s32e a3, a9, -4\n"
    "s32e a4, a0, -32\n s32e a5, a0, -28\n s32e a6, a0, -24\n s32e a7, a0, -20\n rfwo\n"
    ".org vectors + 0xc0\n"
    "l32e a0, a9, -16\n l32e a1, a9, -12\n l32e a2, a9, -8\n l32e a7, a1, -12\n l32e a3, a9, -4\n"
    "l32e a4, a7, -32\n l32e a5, a7, -28\n l32e a6, a7, -24\n l32e a7, a7, -20\n rfwu\n"
    ".org vectors + 0x100\n"
    "s32e a0, a13, -16\n l32e a0, a1, -12\n s32e a1, a13, -12\n s32e a2, a13, -8\n"
    "s32e a3, a13, -4\n s32e a4, a0, -48\n s32e a5, a0, -44\n s32e a6, a0, -40\n"
    "s32e a7, a0, -36\n s32e a8, a0, -32\n s32e a9, a0, -28\n s32e a10, a0, -24\n"
    "s32e a11, a0, -20\n rfwo\n"
    ".org vectors + 0x140\n"
    "l32e a0, a13, -16\n l32e a1, a13, -12\n l32e a2, a13, -8\n l32e a11, a1, -12\n"
    "l32e a3, a13, -4\n l32e a4, a11, -48\n l32e a5, a11, -44\n l32e a6, a11, -40\n"
    "l32e a7, a11, -36\n l32e a8, a11, -32\n l32e a9, a11, -28\n l32e a10, a11, -24\n"
    "l32e a11, a11, -20\n rfwu\n"
    // Every other vector, wherever a core has it, tells and ends.
    ".rept 64\n .balign 16\n j on_fault\n .endr\n"
    ".balign 4\n"
    "on_fault: movi a2, 0x4000f\n wsr a2, ps\n rsync\n movi a1, _stack_top\n call8 fault\n"
    ".global _start\n"
    ".balign 4\n"
    "_start: movi a2, vectors\n wsr a2, vecbase\n"
    "movi a2, 1\n wsr a2, windowstart\n movi a2, 0\n wsr a2, windowbase\n rsync\n"
    "movi a0, 0\n movi a1, _stack_top\n"
    "movi a2, 0x4000f\n wsr a2, ps\n rsync\n" // windows on, interrupts off
    "movi a8, start\n callx8 a8\n"
    ".text\n");
