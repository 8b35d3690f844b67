// Convolution: rows of weights are packed once per tile of channels, then used at
// every position. The window is clipped to the image, so padding costs nothing.
#include "ops.h"
#include "tile.h"
#include "window.h"
#if MZ_AVX2
#include "arch/avx2_conv.h"
#endif

#if MZ_COLUMNS

#include "columns.h"

void mz_conv(const mz_view_t *view) {
    mz_conv_columns(view);
}

#else

// A row of windows whose cells lie apart: a kernel column at a time.
static void dilated_row(const mz_tile_t *tile, int32_t oy, mz_window_t wy) {
    const mz_layer_t *l = tile->view->layer;
    int32_t x_step = l->dil_h * l->in_w * l->in_c;
    int32_t rows = wy.hi - wy.lo;
    int32_t acc[MZ_TILE];
    for (int32_t ox = 0; ox < l->out_w; ++ox) {
        mz_window_t wx = mz_taps(ox, l->s_w, l->p_l, l->k_w, l->in_w, l->dil_w);
        mz_tile_start(tile, acc);
        for (int32_t kx = wx.lo; rows && kx < wx.hi; ++kx) {
            const int8_t *x = l->in + (wy.at * l->in_w + wx.at + (kx - wx.lo) * l->dil_w) * l->in_c;
            const int16_t *w = tile->w + (wy.lo * l->k_w + kx) * l->in_c;
            mz_arch_dot(w, l->k4, l->k_w * l->in_c, x, x_step, rows, l->in_c, l->in_zp, acc);
        }
        mz_tile_store(tile, oy * l->out_w + ox, acc);
    }
}

static void conv_row(const mz_tile_t *tile, int32_t oy, mz_window_t wy) {
    const mz_layer_t *l = tile->view->layer;
    int32_t x_step = l->in_w * l->in_c;
    int32_t w_step = l->k_w * l->in_c;
    int32_t apart = l->s_w * l->in_c;
    int32_t rows = wy.hi - wy.lo;
    int32_t acc[2 * MZ_TILE];
    if (mz_dilated(l)) {
        dilated_row(tile, oy, wy);
        return;
    }
    mz_window_t wx = mz_window(0, l->s_w, l->p_l, l->k_w, l->in_w);
    for (int32_t ox = 0; ox < l->out_w;) {
        mz_window_t next = mz_window(ox + 1, l->s_w, l->p_l, l->k_w, l->in_w);
        int32_t p = oy * l->out_w + ox;
        int32_t n = (wx.hi - wx.lo) * l->in_c;
        const int8_t *x = l->in;
        if (n && rows) { // else the window lies in the padding, and so may the address
            x += (wy.at * l->in_w + wx.at) * l->in_c;
        }
        const int16_t *w = tile->w + (wy.lo * l->k_w + wx.lo) * l->in_c;
        mz_tile_start(tile, acc);
        if (ox + 1 < l->out_w && next.lo == wx.lo && next.hi == wx.hi && n && rows) {
            mz_tile_start(tile, acc + MZ_TILE);
            mz_arch_dot2(w, l->k4, w_step, x, apart, x_step, rows, n, l->in_zp, acc);
            mz_tile_store(tile, p, acc);
            mz_tile_store(tile, p + 1, acc + MZ_TILE);
            wx = mz_window(ox + 2, l->s_w, l->p_l, l->k_w, l->in_w);
            ox += 2;
        } else {
            if (n && rows) {
                mz_arch_dot(w, l->k4, w_step, x, x_step, rows, n, l->in_zp, acc);
            }
            mz_tile_store(tile, p, acc);
            wx = next;
            ox += 1;
        }
    }
}

// 1x1, stride 1, no padding: the positions are one list.
static void conv_points(const mz_tile_t *tile) {
    const mz_layer_t *l = tile->view->layer;
    int32_t points = l->out_h * l->out_w;
    int32_t acc[2 * MZ_TILE];
    int32_t p = 0;
    for (; p + 2 <= points; p += 2) {
        mz_tile_start(tile, acc);
        mz_tile_start(tile, acc + MZ_TILE);
        mz_arch_dot2(tile->w, l->k4, 0, l->in + p * l->in_c, l->in_c, 0, 1, l->k, l->in_zp, acc);
        mz_tile_store(tile, p, acc);
        mz_tile_store(tile, p + 1, acc + MZ_TILE);
    }
    if (p < points) {
        mz_tile_start(tile, acc);
        mz_arch_dot(tile->w, l->k4, 0, l->in + p * l->in_c, 0, 1, l->k, l->in_zp, acc);
        mz_tile_store(tile, p, acc);
    }
}

void mz_conv(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
#if MZ_AVX2
    if (mz_avx2_conv(view)) {
        return;
    }
#endif
    bool pointwise = l->k == l->in_c && l->out_h == l->in_h && l->out_w == l->in_w && l->s_h == 1
        && l->s_w == 1 && l->p_t == 0 && l->p_l == 0;
    for (int32_t c = 0; c < l->out_c; c += MZ_TILE) {
        mz_tile_t tile;
        mz_tile_load(&tile, view, c);
        if (pointwise) {
            conv_points(&tile);
            continue;
        }
        for (int32_t oy = 0; oy < l->out_h; ++oy) {
            conv_row(&tile, oy, mz_taps(oy, l->s_h, l->p_t, l->k_h, l->in_h, l->dil_h));
        }
    }
}

#endif
