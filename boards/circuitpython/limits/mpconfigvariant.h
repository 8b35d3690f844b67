// What py/circuitpy_mpconfig.h says of boards, for MicroPython's unix port. Functions that have no
// switch are taken away by limits.py.
#define MICROPY_CONFIG_ROM_LEVEL (MICROPY_CONFIG_ROM_LEVEL_EXTRA_FEATURES)
#define MICROPY_FLOAT_IMPL (MICROPY_FLOAT_IMPL_FLOAT)
#define MICROPY_GC_ALLOC_THRESHOLD (0)
#define MICROPY_OPT_MPZ_BITWISE (0)
#define MICROPY_PY_MICROPYTHON_MEM_INFO (0)
#define MICROPY_PY_BINASCII_CRC32 (0)
#define MICROPY_PY_UCTYPES (0)
#define MICROPY_ENABLE_PYSTACK (1)
#define MICROPY_EMIT_X86 (0)
#include "ports/unix/variants/mpconfigvariant_common.h"
