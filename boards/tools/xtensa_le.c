// Tells Debian's Xtensa assembler of all the instructions that binutils knows (register windows
// among them), in little-endian form. Built from binutils' own source by build_xtensa_plugin.sh.
#include <stddef.h>
#include <stdint.h>

#define XTENSA_CONFIG_DEFINITION
#include "xtensa-config.h"
#undef XCHAL_HAVE_BE
#define XCHAL_HAVE_BE 0
#include "xtensa-dynconfig.h"
#include "bfd/xtensa-modules.c"

const struct xtensa_config_v1 xtensa_config_v1 = {XTENSA_CONFIG_V1_ENTRY_LIST};
const struct xtensa_config_v2 xtensa_config_v2 = {XTENSA_CONFIG_V2_ENTRY_LIST};
