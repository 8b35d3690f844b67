// Sum or difference of two tensors of different scales.
#include "ops.h"
#include "requant.h"
#include "second.h"

static inline int8_t sum(const mz_layer_t *l, int32_t x1, int32_t x2, int32_t lo, int32_t hi) {
    int32_t a = mz_requant((x1 - l->in_zp) * (1 << 20), l->mult1, l->shift1);
    int32_t b = mz_requant((x2 - l->in2_zp) * (1 << 20), l->mult2, l->shift2);
    int32_t v = mz_requant(a + b, l->add_mult, l->add_shift);
    return (int8_t)(mz_sat(v, lo, hi) + l->out_zp);
}

void mz_add(const mz_layer_t *l) {
    int32_t lo = l->act_min - l->out_zp;
    int32_t hi = l->act_max - l->out_zp;
    if (!(l->flags & (MZ_FLAG_SPREAD_HW | MZ_FLAG_SPREAD_C))) {
        for (int32_t i = 0; i < l->out_size; ++i) {
            l->out[i] = sum(l, l->in[i], l->in2[i], lo, hi);
        }
        return;
    }
    mz_second_t second = mz_second(l);
    for (int32_t i = 0; i < l->out_size; ++i) {
        l->out[i] = sum(l, l->in[i], mz_second_next(&second), lo, hi);
    }
}
