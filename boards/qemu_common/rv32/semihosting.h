#include "shared/runtime/semihosting_rv32.h"
