#include "stats.h"

int32_t mz_stats_finish(int32_t n, int32_t shift, int64_t s1, int64_t s2, int32_t *mean, int32_t *sd) {
    int64_t r;
    int64_t rest;
    int64_t q = mz_floor_div(s1, n, &r);
    // Limits of what n accumulators below 2^30 can give; they keep all below in 64 bits.
    if (q < -(1 << 30) || q > (1 << 30) || s2 < 0 || s2 > ((int64_t)1 << 62)) {
        return MZ_E_VALUE;
    }
    int64_t var = mz_floor_div(s2 - 2 * q * r, n, &rest) - q * q;
    var = mz_sat64(var, 0, (int64_t)1 << 54);
    int64_t scale = (int64_t)1 << shift;
    *mean = mz_clip(mz_rdiv(s1, n) * scale, INT32_MIN, INT32_MAX);
    *sd = mz_clip(mz_isqrt((uint64_t)var << 8) * scale, 0, INT32_MAX);
    return MZ_OK;
}
