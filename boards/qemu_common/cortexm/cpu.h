// The few system registers of Armv7-M and Armv8-M that the boards use.
#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))

#define NVIC_ISER ((volatile uint32_t *)0xe000e100)
#define SYST_CSR REG(0xe000e010)
#define SYST_RVR REG(0xe000e014)
#define SYST_CVR REG(0xe000e018)
#define SCB_ICSR REG(0xe000ed04)
#define SCB_VTOR REG(0xe000ed08)
#define SCB_AIRCR REG(0xe000ed0c)
#define SCB_CCR REG(0xe000ed14)
#define SCB_SHCSR REG(0xe000ed24)
#define SCB_CFSR REG(0xe000ed28)
#define SCB_BFAR REG(0xe000ed38)
#define SCB_CPACR REG(0xe000ed88)

static inline void irq_enable(int irq) {
    NVIC_ISER[irq / 32] = 1u << (irq % 32);
}

static inline void irqs_off(void) {
    __asm volatile ("cpsid i" : : : "memory");
}

static inline void irqs_on(void) {
    __asm volatile ("cpsie i" : : : "memory");
}

// Sleeps until an interrupt is pending, masked or not.
static inline void irq_wait(void) {
    __asm volatile ("wfi" : : : "memory");
}
