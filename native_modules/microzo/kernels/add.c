// Sum or difference of two tensors of different scales.
#include "ops.h"
#include "requant.h"
#include "second.h"

void mz_add(const mz_layer_t *l) {
    int32_t lo = l->act_min - l->out_zp;
    int32_t hi = l->act_max - l->out_zp;
    mz_second_t second = mz_second(l);
    for (int32_t i = 0; i < l->out_size; ++i) {
        int32_t a = (l->in[i] - l->in_zp) * (1 << 20);
        int32_t b = (mz_second_next(&second) - l->in2_zp) * (1 << 20);
        int32_t sum = mz_requant(a, l->mult1, l->shift1) + mz_requant(b, l->mult2, l->shift2);
        int32_t v = mz_requant(sum, l->add_mult, l->add_shift);
        l->out[i] = (int8_t)(mz_sat(v, lo, hi) + l->out_zp);
    }
}
