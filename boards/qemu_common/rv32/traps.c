// Interrupts and faults.
#include "board.h"
#include "cpu.h"
#include "system.h"

#define PLIC_CLAIM REG(BOARD_PLIC_BASE + 0x200004)

#define CAUSE_INTERRUPT (1u << 31)

static const char *const causes[] = {
    [0] = "unaligned jump",
    [1] = "bad address",
    [2] = "undefined instruction",
    [4] = "unaligned access",
    [5] = "bad address",
    [6] = "unaligned access",
    [7] = "bad address",
};

void trap_entry(void);

static const char *name_of(uint32_t cause) {
    if (cause < sizeof(causes) / sizeof(causes[0]) && causes[cause]) {
        return causes[cause];
    }
    return "unexpected exception";
}

__attribute__((interrupt("machine"), aligned(4))) void trap_entry(void) {
    uint32_t cause = CSR_READ(mcause);
    if (!(cause & CAUSE_INTERRUPT)) {
        uint32_t lr = (uint32_t)__builtin_return_address(0);
        fault_report(name_of(cause), CSR_READ(mepc), lr, cause, CSR_READ(mstatus), CSR_READ(mtval));
    }
    uint32_t irq = PLIC_CLAIM;
    if (irq == BOARD_UART_RX_IRQ) {
        uart_rx_irq();
    }
    PLIC_CLAIM = irq;
}
