// 2 KB for the frames of Python calls, as CircuitPython's boards have: main.c has twice that.
#include "py/obj.h"
#include "py/pystack.h"
#define mp_pystack_init(start, end) (mp_pystack_init)((start), (mp_obj_t *)(start) + 2048 / sizeof(mp_obj_t))
