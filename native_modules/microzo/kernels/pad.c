// Padding with the zero point; negative pads cut off.
#include "ops.h"

static int8_t *fill(int8_t *to, int32_t n, int32_t v) {
    for (; n > 0; --n) {
        *to++ = (int8_t)v;
    }
    return to;
}

void mz_pad(const mz_layer_t *l) {
    int8_t *out = l->out;
    int32_t cut = mz_max(-l->p_l, 0);
    int32_t left = mz_min(mz_max(l->p_l, 0), l->out_w);
    int32_t middle = mz_min(mz_max(l->in_w - cut, 0), l->out_w - left);
    for (int32_t oy = 0; oy < l->out_h; ++oy) {
        int32_t y = oy - l->p_t;
        if (!mz_within(y, 0, l->in_h - 1)) {
            out = fill(out, l->out_w * l->out_c, l->in_zp);
            continue;
        }
        out = fill(out, left * l->in_c, l->in_zp);
        const int8_t *x = l->in + (y * l->in_w + (middle ? cut : 0)) * l->in_c;
        for (int32_t i = 0; i < middle * l->in_c; ++i) {
            *out++ = x[i];
        }
        out = fill(out, (l->out_w - left - middle) * l->in_c, l->in_zp);
    }
}
