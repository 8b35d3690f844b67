// A processor fault ends the emulator, after a line that says what and where.
#include "system.h"

#include "py/runtime.h"
#include "uart.h"

static void tell(void *env, const char *str, size_t len) {
    (void)env;
    uart_tx_strn(str, len);
    system_log(str, len);
}

static const mp_print_t tell_print = {NULL, tell};

void fault_report(const char *cause, uint32_t pc, uint32_t lr, uint32_t number, uint32_t status,
    uint32_t address) {
    mp_printf(&tell_print, "\r\nFAULT: %s, pc=%08x lr=%08x exception=%u status=%08x address=%08x\r\n",
        cause, (unsigned)pc, (unsigned)lr, (unsigned)number, (unsigned)status, (unsigned)address);
    system_halt();
}

__attribute__((__noreturn__)) void nlr_jump_fail(void *val) {
    (void)val;
    mp_printf(&tell_print, "\r\nFAULT: exception without a handler\r\n");
    system_halt();
}
