#include "gradient.h"
#include "update.h"
#include "wgrad.h"
#include "window.h"

void mz_accumulate(int32_t *g, int64_t v) {
    int64_t sum = mz_sat(*g, -MZ_GRADIENT_LIMIT, MZ_GRADIENT_LIMIT);
    *g = mz_clip(sum + v, -MZ_GRADIENT_LIMIT, MZ_GRADIENT_LIMIT);
}

void mz_head_gradient(const mz_layer_t *l, const int32_t *err, int32_t *grad) {
    int32_t *bias = grad + l->out_c * l->k;
    for (int32_t c = 0; c < l->out_c; ++c, grad += l->k) {
        int32_t e = mz_error_q8(err[c]);
        mz_accumulate(bias++, (int64_t)e * 64);
        // An error that no network has goes in parts of one sign, which saturate like the whole.
        do {
            int32_t part = mz_sat(e, -MZ_WGRAD_ROW_MOST, MZ_WGRAD_ROW_MOST);
            mz_wgrad_row(l, part, grad);
            e -= part;
        } while (e != 0);
    }
}

void mz_tail_gradient(const mz_layer_t *l, const mz_layer_t *gate, const mz_layer_t *pool,
    const mz_layer_t *head, const int32_t *err, int32_t *grad) {
    int32_t limit = (int32_t)(((uint32_t)1 << 30) / (255 * (uint32_t)(l->out_h * l->out_w)));
    int32_t cell_h = pool != NULL ? pool->k_h : 1;
    int32_t cell_w = pool != NULL ? pool->k_w : 1;
    int32_t cells_h = pool != NULL ? pool->out_h : l->out_h;
    int32_t cells_w = pool != NULL ? pool->out_w : l->out_w;
    // The positions of a cell have one error; small ones are not worth sums of bytes, but together
    // they must follow row by row.
    bool same = cell_h > 1 || cell_w > 2;
    mz_wgrad_t wgrad;
    mz_wgrad_open(&wgrad, l, same);
    for (int32_t c = 0; c < l->out_c; ++c) {
        mz_wgrad_begin(&wgrad, c, grad);
        for (int32_t cell = 0; cell < cells_h * cells_w; ++cell) {
            // Limited so that a channel's sums stay below 2^30.
            int64_t error = mz_wgrad_input_error(head, err, cell * l->out_c + c);
            int32_t df = mz_clip(mz_rsh(error, 4), -limit, limit);
            if (df != 0) {
                mz_cell_t place = {cell / cells_w * cell_h, cell % cells_w * cell_w, cell_h, cell_w};
                mz_wgrad_put_cell(&wgrad, gate, c, place, df);
            }
            if (same) {
                mz_wgrad_flush(&wgrad);
            }
        }
        mz_wgrad_end(&wgrad, c, grad);
    }
}

// Adds h * (x - zero point) of one output position of channel c to the sums of its weights.
static void scatter(const mz_layer_t *l, int32_t c, int32_t oy, int32_t ox, int32_t h, int32_t *sums) {
    mz_window_t wy = mz_taps(oy, l->s_h, l->p_t, l->k_h, l->in_h, l->dil_h);
    mz_window_t wx = mz_taps(ox, l->s_w, l->p_l, l->k_w, l->in_w, l->dil_w);
    bool deep = l->kind == MZ_DWCONV;
    int32_t source = deep ? c / l->multiplier : 0;
    int32_t width = deep ? 1 : l->in_c; // of a cell, in sums
    int32_t step = deep ? l->in_c : 1;
    for (int32_t ky = wy.lo; ky < wy.hi; ++ky) {
        int32_t row = (wy.at + (ky - wy.lo) * l->dil_h) * l->in_w + wx.at;
        for (int32_t kx = wx.lo; kx < wx.hi; ++kx) {
            const int8_t *x = l->in + (row + (kx - wx.lo) * l->dil_w) * l->in_c + source;
            int32_t *to = sums + (ky * l->k_w + kx) * width;
            for (int32_t i = 0; i < width; ++i) {
                to[i] += h * (x[i * step] - l->in_zp);
            }
        }
    }
}

void mz_node_gradient(const mz_layer_t *l, int32_t shift, int32_t *sums, int32_t *grad) {
    int32_t limit = (int32_t)(((uint32_t)1 << 30) / (255 * (uint32_t)(l->out_h * l->out_w)));
    bool windows = l->kind == MZ_CONV;
    mz_wgrad_t wgrad;
    mz_wgrad_open(&wgrad, l, false);
    for (int32_t c = 0; c < l->out_c; ++c) {
        int32_t *sum = sums + c;
        mz_wgrad_begin(&wgrad, c, grad);
        for (int32_t oy = 0; oy < l->out_h; ++oy) {
            for (int32_t ox = 0; ox < l->out_w; ++ox, sum += l->out_c) {
                // A rounding shift in 32 bits: the last bit that leaves is the rounding.
                int32_t v = *sum;
                int32_t h = mz_sat(shift > 0 ? (v >> shift) + (v >> (shift - 1) & 1) : v, -limit, limit);
                *sum = 0;
                if (h == 0) {
                    continue;
                }
                if (windows) {
                    mz_wgrad_put(&wgrad, oy, ox, h);
                } else {
                    wgrad.bias_sum += h;
                    scatter(l, c, oy, ox, h, wgrad.sums);
                }
            }
        }
        mz_wgrad_end(&wgrad, c, grad);
    }
}

static int64_t step(int32_t *v, int32_t shift, int32_t decay) {
    int64_t taken = mz_rsh(*v, shift);
    *v = decay > 0 ? *v - (*v >> decay) : 0;
    return taken;
}

void mz_gradient_apply(const mz_layer_t *l, int32_t shift, int32_t decay, int32_t *grad) {
    int32_t weights = l->out_c * l->k;
    if (l->master != NULL) {
        mz_wgrad_step(grad, weights, shift, decay, l->master);
    }
    for (int32_t i = 0; l->master == NULL && i < weights; ++i) {
        step(&grad[i], shift, decay);
    }
    grad += weights;
    for (int32_t c = 0; c < l->out_c; ++c) {
        int64_t taken = step(grad++, shift + 4, decay);
        if (l->state_bias != NULL) {
            l->state_bias[c] = mz_clip(l->state_bias[c] - taken, -l->b_max, l->b_max);
        }
    }
}
