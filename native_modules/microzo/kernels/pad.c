// Padding with the zero point.
#include "ops.h"

void mz_pad(const mz_layer_t *l) {
    int8_t *out = l->out;
    int32_t row = l->in_w * l->in_c;
    for (int32_t oy = 0; oy < l->out_h; ++oy) {
        int32_t y = oy - l->p_t;
        bool inside = mz_within(y, 0, l->in_h - 1);
        int32_t left = inside ? l->p_l * l->in_c : l->out_w * l->out_c;
        for (int32_t i = 0; i < left; ++i) {
            *out++ = (int8_t)l->in_zp;
        }
        if (!inside) {
            continue;
        }
        const int8_t *x = l->in + y * row;
        for (int32_t i = 0; i < row; ++i) {
            *out++ = x[i];
        }
        for (int32_t i = 0; i < l->p_r * l->in_c; ++i) {
            *out++ = (int8_t)l->in_zp;
        }
    }
}
