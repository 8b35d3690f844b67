#include "base.h"

uint64_t mz_udiv64(uint64_t a, uint64_t b, uint64_t *rem) {
    uint64_t q = 0;
    uint64_t r = 0;
    for (int32_t i = 63; i >= 0; --i) {
        r = (r << 1) | ((a >> i) & 1);
        if (r >= b) {
            r -= b;
            q |= (uint64_t)1 << i;
        }
    }
    *rem = r;
    return q;
}

int64_t mz_floor_div(int64_t a, int64_t b, int64_t *rem) {
    uint64_t r;
    // For a < 0: floor(a / b) = -1 - (-1 - a) / b, and -1 - a cannot overflow.
    bool negative = a < 0;
    uint64_t magnitude = negative ? (uint64_t)(-1 - a) : (uint64_t)a;
    int64_t q = (int64_t)mz_udiv64(magnitude, (uint64_t)b, &r);
    *rem = negative ? b - 1 - (int64_t)r : (int64_t)r;
    return negative ? -1 - q : q;
}

int64_t mz_rdiv(int64_t a, int64_t b) {
    int64_t rem;
    return mz_floor_div(2 * a + b, 2 * b, &rem);
}

uint32_t mz_isqrt(uint64_t v) {
    uint64_t root = 0;
    for (int32_t i = 31; i >= 0; --i) {
        uint64_t trial = root | ((uint64_t)1 << i);
        if (trial * trial <= v) {
            root = trial;
        }
    }
    return (uint32_t)root;
}
