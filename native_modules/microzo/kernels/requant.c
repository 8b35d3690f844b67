#include "requant.h"

int32_t mz_requant_left(int32_t acc, int32_t mult, int32_t shift) {
    int64_t left = (int64_t)acc * ((int64_t)1 << shift);
    return mz_high(mz_clip(left, INT32_MIN, INT32_MAX), mult);
}

int32_t mz_requant_once(int32_t acc, int32_t mult, int32_t shift) {
    int32_t right = 31 - shift;
    if (right > 62) {
        return 0; // |acc * mult| < 2^62, so it is less than one half
    }
    if (right > 32) {
        return mz_round_once(acc, mult, right - 32);
    }
    int64_t p = (int64_t)acc * mult;
    p = (p + ((int64_t)1 << (right - 1)) - (p < 0)) >> right;
    return mz_clip(p, INT32_MIN, INT32_MAX);
}
