// What the parts of a board call of each other. cortexm/ and rv32/ hold each core's own.
#include <stddef.h>
#include <stdint.h>

// From reset to main(): startup.c.
__attribute__((__noreturn__)) void system_start(void);
// Restarts the board, which keeps its disk.
__attribute__((__noreturn__)) void system_reset(void);
// Ends the emulator as failed.
__attribute__((__noreturn__)) void system_halt(void);
// Writes to the emulator's own output.
void system_log(const char *str, size_t len);

// Says what went wrong and ends the emulator.
__attribute__((__noreturn__)) void fault_report(const char *cause, uint32_t pc, uint32_t lr,
    uint32_t number, uint32_t status, uint32_t address);

void clock_init(void);
// Ticks of BOARD_CLOCK_HZ since the start.
uint64_t clock_ticks(void);
// Makes an interrupt pending after this time, and takes that back.
void clock_alarm_set(uint32_t ticks);
void clock_alarm_clear(void);

void uart_rx_irq(void);
