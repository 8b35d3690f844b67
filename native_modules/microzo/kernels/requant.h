// Requantization as TFLite's reference kernels round it (SPEC.md 1.2).
#ifndef MZ_REQUANT_H
#define MZ_REQUANT_H

#include "base.h"

#define MZ_MULT_MIN (1 << 30)
#define MZ_SHIFT_MIN (-31)
#define MZ_SHIFT_MAX 30

static inline bool mz_mult_ok(int32_t mult) {
    return mult == 0 || mult >= MZ_MULT_MIN;
}

static inline bool mz_shift_ok(int32_t shift) {
    return mz_within(shift, MZ_SHIFT_MIN, MZ_SHIFT_MAX);
}

// mult >= 0, shift in [-39, 30] (16w8a takes up to 8 from the shift).
static inline int32_t mz_requant(int32_t acc, int32_t mult, int32_t shift) {
    if (shift > 0) {
        acc = (int32_t)mz_sat64((int64_t)acc * ((int64_t)1 << shift), INT32_MIN, INT32_MAX);
    }
    int32_t x = (int32_t)(((int64_t)acc * mult + ((int64_t)1 << 30)) >> 31);
    if (shift < 0) {
        int32_t right = -shift;
        if (right > 31) {
            return 0; // |x| < 2^31, so it is less than one half
        }
        int32_t mask = (int32_t)(((uint32_t)1 << right) - 1);
        int32_t rest = x & mask;
        int32_t threshold = (mask >> 1) + (x < 0);
        x = (x >> right) + (rest > threshold);
    }
    return x;
}

#endif
