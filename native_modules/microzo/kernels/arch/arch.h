// Selects the inner loops for the target at compile time. Every variant gives the
// bits of portable.h, which always remains.
#ifndef MZ_ARCH_H
#define MZ_ARCH_H

#include "portable.h"

#endif
