// Every exception without a handler of its own comes here.
#include "cpu.h"
#include "memory.h"
#include "system.h"

#define CFSR_UNALIGNED (1u << 24)
#define CFSR_DIVBYZERO (1u << 25)
#define CFSR_UNDEFINED (1u << 16)
#define CFSR_BUS (0xff00u)

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
__attribute__((used)) static void fault(const uint32_t *frame) {
    uint32_t ipsr;
    __asm volatile ("mrs %0, ipsr" : "=r" (ipsr));
    fault_report(cause(SCB_CFSR), frame[6], frame[5], ipsr, SCB_CFSR, SCB_BFAR);
}

// Reports from the top of the stack, since the fault may be that the stack ran out.
__attribute__((naked)) void fault_entry(void) {
    __asm volatile (
        "mov r0, sp\n"
        "ldr r1, =_sstack\n"
        "cmp r0, r1\n"
        "bhs 1f\n"
        "ldr r1, =_estack\n"
        "mov sp, r1\n"
        "1: ldr r1, =%c0\n"
        "bx r1\n"
        ".ltorg\n"
        : : "i" (fault));
}
