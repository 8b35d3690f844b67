// From reset to main(): memory as C expects it, the stack painted, the devices.
#include "memory.h"
#include "system.h"

#include "semihosting.h"
#include "uart.h"

int main(void);

void system_start(void) {
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
    clock_init();
    uart_init();
    main();
    system_reset();
}

void system_log(const char *str, size_t len) {
    mp_semihosting_tx_strn(str, len);
}

// machine.reset() of the port calls exit().
__attribute__((__noreturn__)) void exit(int status) {
    (void)status;
    system_reset();
}
