// Padding with the zero point; negative pads cut off.
#include "ops.h"

void mz_pad(const mz_layer_t *l) {
    int8_t *out = l->out;
    for (int32_t oy = 0; oy < l->out_h; ++oy) {
        int32_t y = oy - l->p_t;
        bool inside = mz_within(y, 0, l->in_h - 1);
        for (int32_t x = -l->p_l; x < l->out_w - l->p_l; ++x) {
            bool there = inside && mz_within(x, 0, l->in_w - 1);
            const int8_t *from = l->in + (there ? (y * l->in_w + x) * l->in_c : 0);
            for (int32_t i = 0; i < l->in_c; ++i) {
                *out++ = there ? from[i] : (int8_t)l->in_zp;
            }
        }
    }
}
