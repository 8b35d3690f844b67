#include "shared/runtime/semihosting_arm.h"
