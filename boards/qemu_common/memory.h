// Symbols of sections.ld.
#include <stdint.h>

extern uint32_t _ram_start, _sidata, _sdata, _edata, _sbss, _ebss;
extern uint32_t _heap_start, _heap_end, _sstack, _estack;

// What unused stack holds, so that its deepest use can be read off later.
#define STACK_PAINT (0xa5a5a5a5)
