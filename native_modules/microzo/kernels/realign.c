#include "realign.h"
#include "pass.h"
#include "requant.h"

static int32_t ratio_q16(int32_t clean, int32_t now) {
    uint64_t rest;
    uint64_t r = mz_udiv64((uint64_t)clean << 16, (uint64_t)now, &rest);
    return (int32_t)(r < (1 << 14) ? (1 << 14) : r > (1 << 18) ? (1 << 18) : r);
}

mz_realigned_t mz_realign(const mz_layer_t *l, int32_t c, int32_t mean, int32_t sd, int32_t alpha) {
    mz_realigned_t v = {mz_layer_bias(l, c), mz_layer_mult(l, c), mz_layer_shift(l, c)};
    int32_t mean0 = l->stat[c];
    int32_t sd0 = l->stat[l->out_c + c];
    if (sd0 <= 0 || sd <= 0) {
        return v;
    }
    int32_t r = ratio_q16(sd0, sd);
    int64_t target = v.bias + mz_rdiv((int64_t)mean0 * 65536, r) - mean;
    target = mz_clip(target, -l->b_max, l->b_max);
    // From here on the file's values: a second realign does not correct what the first one did.
    v.bias = (int32_t)mz_clip(l->bias[c], -l->b_max, l->b_max);
    v.bias += (int32_t)(((target - v.bias) * alpha) >> 8);
    v.mult = mz_max(l->mult[c], 0);
    v.shift = mz_sat(l->shift[c], MZ_SHIFT_MIN, MZ_SHIFT_MAX);
    if (v.mult == 0) {
        return v; // a dead channel has nothing to scale
    }
    r = 65536 + (((r - 65536) * alpha) >> 8);
    int64_t p = (int64_t)v.mult * r;
    int32_t e = 0;
    while (p >= (int64_t)1 << 47) {
        p >>= 1;
        e += 1;
    }
    while (p < (int64_t)1 << 46) {
        p *= 2;
        e -= 1;
    }
    v.mult = (int32_t)(p >> 16);
    v.shift = mz_sat(v.shift + e, MZ_SHIFT_MIN, MZ_SHIFT_MAX);
    return v;
}
