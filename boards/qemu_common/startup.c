// Vector table and the way from reset to main().
#include "board.h"
#include "cortexm.h"
#include "memory.h"

#include "shared/runtime/semihosting_arm.h"
#include "uart.h"

#define VECTORS (16 + 64)
#define CCR_UNALIGN_TRP (1 << 3)
#define SHCSR_FAULTS (7 << 16)
#define AIRCR_SYSRESETREQ (0x05fa0004)

int main(void);
void fault_entry(void);
void mphal_init(void);
void systick_irq(void);
void timer_irq(void);
void uart_rx_irq(void);

static void start(void);
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

__attribute__((naked, used)) void Reset_Handler(void) {
    __asm volatile (
        "ldr sp, =_estack\n"
        "b %c0\n"
        : : "i" (start));
}

__attribute__((used)) static void start(void) {
    SCB_VTOR = (uint32_t)isr_vector;
    SCB_SHCSR |= SHCSR_FAULTS;
    // Hardware of the smallest boards cannot load unaligned words; here they fault as well.
    SCB_CCR |= CCR_UNALIGN_TRP;
    #if __ARM_FP
    SCB_CPACR |= 0xf << 20;
    __asm volatile ("dsb\nisb");
    #endif

    for (uint32_t *from = &_sidata, *to = &_sdata; to < &_edata;) {
        *to++ = *from++;
    }
    for (uint32_t *to = &_sbss; to < &_ebss;) {
        *to++ = 0;
    }
    uint32_t *here = __builtin_frame_address(0);
    for (uint32_t *to = &_sstack; to < here - 32;) {
        *(volatile uint32_t *)to++ = STACK_PAINT;
    }

    mp_semihosting_init();
    mphal_init();
    uart_init();
    main();
}

// machine.reset() of the port calls exit(): here it restarts the board and keeps its disk.
__attribute__((noreturn)) void exit(int status) {
    (void)status;
    SCB_AIRCR = AIRCR_SYSRESETREQ;
    for (;;) {
    }
}
