// Depthwise convolution by blocks of channels; packed weights are [tap][block].
#include "arch/arch.h"
#include "ops.h"
#include "output.h"
#include "pack.h"
#include "window.h"

static void pack_block(const mz_view_t *view, int32_t c, int32_t n, int16_t *w) {
    const mz_layer_t *l = view->layer;
    int16_t *row = w + MZ_DW_BLOCK * l->k;
    for (int32_t j = 0; j < n; ++j) {
        mz_pack_row(view, c + j, row);
        for (int32_t tap = 0; tap < l->k; ++tap) {
            w[tap * MZ_DW_BLOCK + j] = row[tap];
        }
    }
}

// Accumulators of n channels at the position whose windows are wy, wx.
static void block_taps(const mz_layer_t *l, const int16_t *w, int32_t c, int32_t n, mz_window_t wy,
    mz_window_t wx, int32_t *acc) {
    int32_t rows = wy.hi - wy.lo;
    int32_t cols = wx.hi - wx.lo;
    if (rows == 0 || cols == 0) {
        return;
    }
    int32_t x_step = l->in_w * l->in_c;
    int32_t w_step = l->k_w * MZ_DW_BLOCK;
    const int8_t *x = l->in + (wy.at * l->in_w + wx.at) * l->in_c;
    w += (wy.lo * l->k_w + wx.lo) * MZ_DW_BLOCK;
    int32_t j = 0;
    if (l->multiplier == 1) {
        for (; j + MZ_DW_LANES <= n; j += MZ_DW_LANES) {
            mz_arch_taps(w + j, w_step, x + c + j, x_step, l->in_c, rows, cols, l->in_zp, acc + j);
        }
    }
    for (; j < n; ++j) {
        int32_t in_c = (c + j) / l->multiplier;
        acc[j] += mz_arch_tap1(w + j, w_step, x + in_c, x_step, l->in_c, rows, cols, l->in_zp);
    }
}

void mz_dwconv(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    int16_t *w = (int16_t *)l->scratch;
    mz_channel_t channels[MZ_DW_BLOCK];
    int32_t acc[MZ_DW_BLOCK];
    for (int32_t c = 0; c < l->out_c; c += MZ_DW_BLOCK) {
        int32_t n = mz_min(MZ_DW_BLOCK, l->out_c - c);
        pack_block(view, c, n, w);
        for (int32_t j = 0; j < n; ++j) {
            mz_channel_load(view, c + j, &channels[j]);
        }
        for (int32_t oy = 0; oy < l->out_h; ++oy) {
            mz_window_t wy = mz_window(oy, l->s_h, l->p_t, l->k_h, l->in_h);
            for (int32_t ox = 0; ox < l->out_w; ++ox) {
                mz_window_t wx = mz_window(ox, l->s_w, l->p_l, l->k_w, l->in_w);
                for (int32_t j = 0; j < n; ++j) {
                    acc[j] = channels[j].bias;
                }
                block_taps(l, w, c, n, wy, wx, acc);
                mz_output(view, oy * l->out_w + ox, c, n, channels, acc);
            }
        }
    }
}
