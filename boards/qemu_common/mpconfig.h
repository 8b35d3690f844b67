// The port's configuration and what a board like a bought one has beyond it.
#include "mpconfigport.h"

#undef MICROPY_PY_SELECT
#define MICROPY_PY_SELECT (1)
#undef MICROPY_PY_SYS_STDIO_BUFFER
#define MICROPY_PY_SYS_STDIO_BUFFER (1)
#undef MICROPY_PY_TIME
#define MICROPY_PY_TIME (1)
#undef MICROPY_VFS_ROM_IOCTL
#define MICROPY_VFS_ROM_IOCTL (1)

// A window of half this size per round trip: uploads by mpremote are twice as fast.
#define MICROPY_REPL_STDIN_BUFFER_MAX (4096)

void board_wait(int timeout_ms);
#undef MICROPY_INTERNAL_WFE
#define MICROPY_INTERNAL_WFE(TIMEOUT_MS) board_wait(TIMEOUT_MS)
