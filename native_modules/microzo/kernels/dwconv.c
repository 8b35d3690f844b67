// Depthwise convolution: 3x3 windows and four channels at a time where the core can.
#include "arch/arch.h"
#include "depthwise.h"
#include "fast.h"
#include "ops.h"
#include "output.h"
#include "pack.h"
#include "window.h"

#if MZ_WORDS

// Any depthwise convolution, one channel at a time: what the fast paths leave.
static MZ_RARE void general(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    int16_t *w = (int16_t *)l->scratch;
    for (int32_t c = 0; c < l->out_c; ++c) {
        mz_channel_t channel;
        mz_channels_load(view, c, 1, &channel);
        mz_pack_row(view, c, w);
        const int8_t *in = l->in + c / l->multiplier;
        for (int32_t p = 0; p < l->out_h * l->out_w; ++p) {
            mz_window_t wy = mz_taps(p / l->out_w, l->s_h, l->p_t, l->k_h, l->in_h, l->dil_h);
            mz_window_t wx = mz_taps(p % l->out_w, l->s_w, l->p_l, l->k_w, l->in_w, l->dil_w);
            int32_t acc = channel.bias;
            for (int32_t ky = wy.lo; ky < wy.hi; ++ky) {
                int32_t at = (wy.at + (ky - wy.lo) * l->dil_h) * l->in_w + wx.at - wx.lo * l->dil_w;
                for (int32_t kx = wx.lo; kx < wx.hi; ++kx) {
                    acc += w[ky * l->k_w + kx] * (in[(at + kx * l->dil_w) * l->in_c] - l->in_zp);
                }
            }
            mz_output(view, p, c, 1, &channel, &acc);
        }
    }
}

#else

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
    int32_t x_step = l->dil_h * l->in_w * l->in_c;
    int32_t x_pitch = l->dil_w * l->in_c;
    int32_t w_step = l->k_w * MZ_DW_BLOCK;
    const int8_t *x = l->in + (wy.at * l->in_w + wx.at) * l->in_c;
    w += (wy.lo * l->k_w + wx.lo) * MZ_DW_BLOCK;
    int32_t j = 0;
    if (l->multiplier == 1) {
        for (; j + MZ_DW_LANES <= n; j += MZ_DW_LANES) {
            mz_arch_taps(w + j, w_step, x + c + j, x_step, x_pitch, rows, cols, l->in_zp, acc + j);
        }
    }
    for (; j < n; ++j) {
        int32_t in_c = (c + j) / l->multiplier;
        acc[j] += mz_arch_tap1(w + j, w_step, x + in_c, x_step, x_pitch, rows, cols, l->in_zp);
    }
}

static void general(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    int16_t *w = (int16_t *)l->scratch;
    mz_channel_t channels[MZ_DW_BLOCK];
    int32_t acc[MZ_DW_BLOCK];
    mz_fast_t fast;
    for (int32_t c = 0; c < l->out_c; c += MZ_DW_BLOCK) {
        int32_t n = mz_min(MZ_DW_BLOCK, l->out_c - c);
        pack_block(view, c, n, w);
        mz_channels_load(view, c, n, channels);
        bool ok = mz_fast_open(&fast, view, channels, n);
        for (int32_t oy = 0; oy < l->out_h; ++oy) {
            mz_window_t wy = mz_taps(oy, l->s_h, l->p_t, l->k_h, l->in_h, l->dil_h);
            for (int32_t ox = 0; ox < l->out_w; ++ox) {
                mz_window_t wx = mz_taps(ox, l->s_w, l->p_l, l->k_w, l->in_w, l->dil_w);
                for (int32_t j = 0; j < n; ++j) {
                    acc[j] = channels[j].bias;
                }
                block_taps(l, w, c, n, wy, wx, acc);
                if (ok) {
                    mz_fast_store(&fast, acc, n, l->out + (oy * l->out_w + ox) * l->out_c + c);
                } else {
                    mz_output(view, oy * l->out_w + ox, c, n, channels, acc);
                }
            }
        }
    }
}

#endif

#if MZ_THUMB1 || MZ_THUMB2
static inline bool is_three(const mz_layer_t *l) {
    return l->k_h == 3 && l->k_w == 3 && !mz_dilated(l);
}
#endif

#if MZ_THUMB2

// Packs four channels as [tap][4 channels]; false if their outputs need general code.
static bool pack_quad(const mz_pack_t *pack, int32_t c, int16_t *w, mz_channel_t *channels,
    mz_quad_t *quad) {
    const mz_view_t *view = pack->view;
    const mz_layer_t *l = view->layer;
    bool fast = mz_view_fast(view);
    int32_t room = mz_bias_room(view);
    mz_channels_load(view, c, 4, channels);
    for (int32_t i = 0; i < 4; ++i) {
#if MZ_DSP
        // Channels 0, 2 share a word, and so do 1, 3.
        int16_t *to = w + 2 * (i & 1) + (i >> 1);
#else
        int16_t *to = w + i;
#endif
        if (l->k == 9) {
            mz_pack_nine(pack, c + i, to);
        } else {
            mz_pack_spread(pack, c + i, to, 4, 8, 12);
        }
        int32_t right = -channels[i].shift;
        fast = fast && mz_channel_fast(&channels[i], room);
        quad->bias[i] = channels[i].bias;
        quad->scale[i].mult = channels[i].mult;
        quad->scale[i].right = right;
        if (fast) {
            quad->scale[i].round = (1 << (right - 1)) + l->out_zp * (1 << right);
        }
    }
    return fast;
}

static inline void clamp_row(const mz_layer_t *l, int8_t *out, const int8_t *end) {
    for (; (l->act_min > -128 || l->act_max < 127) && out != end; out += l->out_c) {
        mz_clamp(l, out, 4);
    }
}

// Positions of a quad that is not fast, one by one.
static MZ_RARE void ring_slowly(const mz_view_t *view, mz_dw_t *dw, int32_t p, int32_t c,
    const mz_channel_t *channels) {
    dw->out = NULL;
    for (int32_t n = view->layer->out_w; n > 0; --n, ++p) {
        mz_dw_ring(dw);
        mz_output(view, p, c, 4, channels, dw->raw);
        for (int32_t i = 0; i < 3; ++i) {
            dw->from.ring.rows[i] += dw->from.ring.move;
        }
    }
}

// 3x3 windows from three rows of expanded cells in the scratch, the oldest first.
static void ring(const mz_view_t *view, mz_dw_t *dw, int32_t c, uint8_t *rows, const mz_channel_t *channels) {
    const mz_layer_t *l = view->layer;
    int32_t pitch = 8 * (l->in_w + l->p_l + l->p_r);
    uint8_t *first = rows;
    uint8_t *second = first + pitch;
    uint8_t *third = second + pitch;
    int8_t *out = l->out + c;
    int32_t iy = -l->p_t; // the next input row
    for (int32_t oy = 0, end = iy + 3; oy < l->out_h; ++oy, end += l->s_h) {
        for (iy = mz_max(iy, end - 3); iy < end; ++iy) {
            uint8_t *to = first + 8 * l->p_l;
            uint8_t *oldest = first;
            first = second;
            second = third;
            third = oldest;
            if ((uint32_t)iy < (uint32_t)l->in_h) {
                mz_dw_expand(l->in + iy * l->in_w * l->in_c + c, l->in_c, l->in_w, l->in_zp, to);
                continue;
            }
            int32_t *zeros = (int32_t *)(void *)to;
            for (int32_t i = 0; i < 2 * l->in_w; ++i) {
                zeros[i] = 0;
            }
        }
        dw->from.ring.rows[0] = first;
        dw->from.ring.rows[1] = second;
        dw->from.ring.rows[2] = third;
        if (channels != NULL) {
            ring_slowly(view, dw, oy * l->out_w, c, channels);
            continue;
        }
        dw->out = out;
        dw->out_end = out + l->out_w * l->out_c;
        mz_dw_ring(dw);
        clamp_row(l, out, dw->out_end);
        out += l->out_w * l->out_c;
    }
}

#if MZ_DSP

// A row of windows of any size, clipped to the image.
static void direct_row(const mz_view_t *view, mz_dw_t *dw, int32_t oy, int32_t c,
    const mz_channel_t *channels) {
    const mz_layer_t *l = view->layer;
    const int16_t *w = (int16_t *)l->scratch;
    mz_window_t wy = mz_taps(oy, l->s_h, l->p_t, l->k_h, l->in_h, l->dil_h);
    int32_t rows = wy.hi - wy.lo;
    int8_t *out = l->out + oy * l->out_w * l->out_c + c;
    int32_t n;
    for (int32_t ox = 0; ox < l->out_w; ox += n, out += n * l->out_c) {
        mz_window_t wx = mz_taps(ox, l->s_w, l->p_l, l->k_w, l->in_w, l->dil_w);
        int32_t cols = wx.hi - wx.lo;
        n = 1;
        if (channels == NULL && cols == l->k_w) {
            n = mz_min(l->out_w, (l->in_w + l->p_l - (l->k_w - 1) * l->dil_w - 1) / l->s_w + 1)
                - ox;
        }
        dw->from.direct.x = l->in + (wy.at * l->in_w + wx.at) * l->in_c + c;
        dw->w = w + 4 * (wy.lo * l->k_w + wx.lo);
        if (rows == 0 || cols == 0) {
            // Nothing but padding: one tap with weights of zero.
            dw->from.direct.x = l->in + c;
            dw->w = w + 4 * l->k;
            rows = 1;
            cols = 1;
        }
        dw->from.direct.rows = rows;
        dw->from.direct.cols = cols;
        dw->from.direct.w_skip = 8 * (l->k_w - cols);
        dw->from.direct.x_move = l->s_w * l->in_c - (rows - 1) * dw->from.direct.x_row;
        dw->out = channels == NULL ? out : NULL;
        dw->out_end = out + n * l->out_c;
        mz_dw_direct(dw);
        if (channels == NULL) {
            clamp_row(l, out, dw->out_end);
        } else {
            mz_output(view, oy * l->out_w + ox, c, 4, channels, dw->raw);
        }
        rows = wy.hi - wy.lo;
    }
}

#endif

static void quads(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    mz_pack_t pack;
    mz_channel_t channels[4];
    mz_quad_t quad;
    int32_t raw[4];
    mz_dw_t dw;
    int16_t *w = (int16_t *)l->scratch;
    bool three = is_three(l);
    mz_pack_open(&pack, view);
    dw.quad = &quad;
    dw.w = w;
    dw.raw = raw;
    dw.out_move = l->out_c;
    if (three) {
        // The padding at the sides stays zero.
        int32_t *slots = (int32_t *)(void *)(l->scratch + 32 * l->k);
        for (int32_t i = 0; i < 3 * 2 * (l->in_w + l->p_l + l->p_r); ++i) {
            slots[i] = 0;
        }
        dw.from.ring.move = 8 * l->s_w;
    } else {
        dw.from.direct.x_row = l->dil_h * l->in_w * l->in_c;
        dw.from.direct.x_pitch = l->dil_w * l->in_c;
        dw.from.direct.in_zp = l->in_zp;
    }
    for (int32_t c = 0; c < l->out_c; c += 4) {
        const mz_channel_t *slow = pack_quad(&pack, c, w, channels, &quad) ? NULL : channels;
        for (int32_t i = 0; i < 4; ++i) {
            w[4 * l->k + i] = 0;
        }
        if (three) {
            ring(view, &dw, c, l->scratch + 32 * l->k, slow);
        }
        for (int32_t oy = 0; !three && oy < l->out_h; ++oy) {
#if MZ_DSP
            direct_row(view, &dw, oy, c, slow);
#endif
        }
    }
}

#endif

void mz_dwconv(const mz_view_t *view) {
#if MZ_THUMB2
    const mz_layer_t *l = view->layer;
    bool three = is_three(l);
    if (l->multiplier == 1 && l->in_c % 4 == 0 && (three || MZ_DW_ANY_WINDOW)) {
        quads(view);
        return;
    }
#endif
#if MZ_THUMB1
    if (is_three(view->layer)) {
        mz_dw_channels(view);
        return;
    }
#endif
    general(view);
}
