// A processor fault ends the emulator, after a line that says what and where.
#include <string.h>

#include "cortexm.h"
#include "memory.h"

#include "py/runtime.h"
#include "py/mphal.h"
#include "shared/runtime/semihosting_arm.h"
#include "uart.h"

#define CFSR_UNALIGNED (1u << 24)
#define CFSR_DIVBYZERO (1u << 25)
#define CFSR_UNDEFINED (1u << 16)
#define CFSR_BUS (0xff00u)

static void tell(void *env, const char *str, size_t len) {
    (void)env;
    uart_tx_strn(str, len);
    mp_semihosting_tx_strn(str, len);
}

static const mp_print_t tell_print = {NULL, tell};

static const char *cause(uint32_t cfsr) {
    if (cfsr & CFSR_UNALIGNED) {
        return "unaligned access";
    } else if (cfsr & CFSR_DIVBYZERO) {
        return "division by zero";
    } else if (cfsr & CFSR_UNDEFINED) {
        return "undefined instruction";
    } else if (cfsr & CFSR_BUS) {
        return "bad address";
    }
    return "unexpected exception";
}

// The frame that the processor pushed: r0-r3, r12, lr, pc, xpsr.
__attribute__((used, noreturn)) static void fault_report(const uint32_t *frame) {
    uint32_t ipsr;
    __asm volatile ("mrs %0, ipsr" : "=r" (ipsr));
    mp_printf(&tell_print, "\r\nFAULT: %s, pc=%08x lr=%08x exception=%u cfsr=%08x address=%08x\r\n",
        cause(SCB_CFSR), (unsigned)frame[6], (unsigned)frame[5], (unsigned)ipsr,
        (unsigned)SCB_CFSR, (unsigned)SCB_BFAR);
    mp_semihosting_exit(1);
    for (;;) {
    }
}

// Reports from the top of the stack, since the fault may be that the stack ran out.
__attribute__((naked)) void fault_entry(void) {
    __asm volatile (
        "mov r0, sp\n"
        "ldr r1, =_sstack\n"
        "cmp r0, r1\n"
        "it lo\n"
        "ldrlo sp, =_estack\n"
        "b fault_report\n");
}

__attribute__((noreturn)) void nlr_jump_fail(void *val) {
    (void)val;
    mp_printf(&tell_print, "\r\nFAULT: exception without a handler\r\n");
    mp_semihosting_exit(1);
    for (;;) {
    }
}
