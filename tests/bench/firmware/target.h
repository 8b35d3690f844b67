// What the bench needs from an emulated core: a counter of instructions and a console.
#ifndef TARGET_H
#define TARGET_H

#include <stdint.h>

// Counter that follows the instruction count under -icount; see ticks_per in run.py.
uint32_t target_ticks(void);
void target_write(const char *text);
void target_exit(void) __attribute__((noreturn));
// Where run.py's image lies.
extern const uint8_t *const target_image;

#endif
