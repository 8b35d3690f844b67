// Means over windows, with a scale of their own.
#include "ops.h"
#include "requant.h"

static int32_t total(const int8_t *x, int32_t x_step, int32_t x_pitch, int32_t rows, int32_t cols) {
    int32_t sum = 0;
    for (int32_t row = 0; row < rows; ++row) {
        for (int32_t col = 0; col < cols; ++col) {
            sum += x[col * x_pitch];
        }
        x += x_step;
    }
    return sum;
}

void mz_mean(const mz_layer_t *l) {
    int32_t lo = l->act_min - l->out_zp;
    int32_t hi = l->act_max - l->out_zp;
    int32_t step = l->in_w * l->in_c;
    int32_t zero = l->k_h * l->k_w * l->in_zp;
    int8_t *out = l->out;
    for (int32_t oy = 0; oy < l->out_h; ++oy) {
        for (int32_t ox = 0; ox < l->out_w; ++ox) {
            const int8_t *x = l->in + (oy * l->s_h * l->in_w + ox * l->s_w) * l->in_c;
            for (int32_t c = 0; c < l->out_c; ++c) {
                int32_t sum = total(x + c, step, l->in_c, l->k_h, l->k_w);
                int32_t v = mz_requant(sum - zero, l->add_mult, l->add_shift);
                *out++ = (int8_t)(mz_sat(v, lo, hi) + l->out_zp);
            }
        }
    }
}
