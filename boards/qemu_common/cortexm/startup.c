// Vector table and what the core wants set at reset.
#include "board.h"
#include "cpu.h"
#include "memory.h"
#include "system.h"

#include "semihosting.h"

#define VECTORS (16 + 64)
#define CCR_UNALIGN_TRP (1 << 3)
#define SHCSR_FAULTS (7 << 16)
#define AIRCR_SYSRESETREQ (0x05fa0004)

void fault_entry(void);
void systick_irq(void);
void timer_irq(void);
void Reset_Handler(void);

__attribute__((section(".isr_vector"), used))
void *const isr_vector[VECTORS] = {
    [0] = &_estack,
    [1] = Reset_Handler,
    [2 ... VECTORS - 1] = fault_entry,
    [15] = systick_irq,
    [16 + BOARD_UART_RX_IRQ] = uart_rx_irq,
    [16 + BOARD_TIMER_IRQ] = timer_irq,
};

void Reset_Handler(void) {
    SCB_VTOR = (uint32_t)isr_vector;
    SCB_SHCSR |= SHCSR_FAULTS;
    // Hardware of the smallest boards cannot load unaligned words; here they fault as well.
    SCB_CCR |= CCR_UNALIGN_TRP;
    #if __ARM_FP
    SCB_CPACR |= 0xf << 20;
    __asm volatile ("dsb\nisb");
    #endif
    system_start();
}

void system_reset(void) {
    SCB_AIRCR = AIRCR_SYSRESETREQ;
    for (;;) {
    }
}

void system_halt(void) {
    mp_semihosting_exit(1);
    for (;;) {
    }
}
