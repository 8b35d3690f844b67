// Interrupts of a RISC-V core in machine mode.
#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))
#define REG8(address) (*(volatile uint8_t *)(address))

#define MSTATUS_MIE (1 << 3)
#define MIE_TIMER (1 << 7)
#define MIE_EXTERNAL (1 << 11)

#define CSR_READ(name) ({ uint32_t v; __asm volatile ("csrr %0, " #name : "=r" (v)); v; })
#define CSR_WRITE(name, v) __asm volatile ("csrw " #name ", %0" : : "r" (v) : "memory")
#define CSR_SET(name, bits) __asm volatile ("csrs " #name ", %0" : : "r" (bits) : "memory")
#define CSR_CLEAR(name, bits) __asm volatile ("csrc " #name ", %0" : : "r" (bits) : "memory")

static inline void irqs_off(void) {
    CSR_CLEAR(mstatus, MSTATUS_MIE);
}

static inline void irqs_on(void) {
    CSR_SET(mstatus, MSTATUS_MIE);
}

// Sleeps until an interrupt is pending, masked or not.
static inline void irq_wait(void) {
    __asm volatile ("wfi" : : : "memory");
}
