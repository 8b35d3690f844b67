// 3x3 depthwise convolution for Cortex-M0+, channel by channel: inputs and weights are
// words, which this core reads at an offset from a register.
#include "arch.h"

#if MZ_THUMB1

#include "../depthwise.h"
#include "../pack.h"
#include "../window.h"
#include "thumb1.h"

// Three taps of a row.
static inline int32_t taps(const int32_t *x, const int32_t *w) {
    return x[0] * w[0] + x[1] * w[1] + x[2] * w[2];
}

static void expand(const mz_layer_t *l, int32_t iy, int32_t c, int32_t *to) {
    int32_t n = l->in_w;
    if (!mz_within(iy, 0, l->in_h - 1)) {
        for (int32_t i = 0; i < n; ++i) {
            to[i] = 0;
        }
        return;
    }
    const int8_t *x = l->in + iy * n * l->in_c + c;
    int32_t zp = l->in_zp;
    int32_t step = l->in_c;
    for (int32_t *end = to + n; to != end; ++to) {
        *to = *x - zp;
        x += step;
    }
}

// What the rows of a channel share.
typedef struct {
    const int32_t *w;
    int32_t bias, low, high, round, right;
    int32_t n, x_step, out_step; // positions of a row
} scaled_t;

static int8_t *scaled_row(const scaled_t *s, const int32_t *x0, const int32_t *x1, const int32_t *x2,
    int8_t *out) {
    const int32_t *w = s->w;
    int32_t bias = s->bias, low = s->low, high = s->high, round = s->round, right = s->right;
    int32_t step = s->x_step;
    int32_t out_step = s->out_step;
    for (int8_t *end = out + s->n * out_step; out != end; out += out_step) {
        int32_t acc = bias + taps(x0, w) + taps(x1, w + 3) + taps(x2, w + 6);
        *out = (int8_t)mz_scaled(acc, low, high, round, right);
        x0 += step;
        x1 += step;
        x2 += step;
    }
    return out;
}

static void general_row(const mz_view_t *view, int32_t oy, int32_t c, const int32_t *w,
    const int32_t *x0, const int32_t *x1, const int32_t *x2, const mz_channel_t *channel) {
    const mz_layer_t *l = view->layer;
    for (int32_t p = oy * l->out_w; p < (oy + 1) * l->out_w; ++p) {
        int32_t acc = channel->bias + taps(x0, w) + taps(x1, w + 3) + taps(x2, w + 6);
        mz_output(view, p, c, 1, channel, &acc);
        x0 += l->s_w;
        x1 += l->s_w;
        x2 += l->s_w;
    }
}

// All outputs of channel c, which reads input channel in_c.
static void one_channel(const mz_view_t *view, int32_t c, int32_t in_c, const int32_t *w,
    const mz_channel_t *channel, bool fast) {
    const mz_layer_t *l = view->layer;
    int32_t width = l->in_w + l->p_l + l->p_r;
    // Three expanded rows, the oldest first.
    int32_t *x0 = (int32_t *)(void *)l->scratch;
    int32_t *x1 = x0 + width;
    int32_t *x2 = x1 + width;
    int8_t *out = l->out + c;
    int32_t right = -channel->shift;
    scaled_t s = {w, channel->bias, (uint16_t)channel->mult, channel->mult >> 16,
        fast ? (1 << (right - 1)) + l->out_zp * (1 << right) : 0, right, l->out_w, l->s_w, l->out_c};
    int32_t next = 0;
    for (int32_t oy = 0; oy < l->out_h; ++oy) {
        int32_t row = oy * l->s_h;
        for (next = mz_max(next, row); next < row + 3; ++next) {
            int32_t *oldest = x0;
            x0 = x1;
            x1 = x2;
            x2 = oldest;
            expand(l, next - l->p_t, in_c, x2 + l->p_l);
        }
        if (fast) {
            out = scaled_row(&s, x0, x1, x2, out);
        } else {
            general_row(view, oy, c, w, x0, x1, x2, channel);
        }
    }
}

void mz_dw_channels(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    int32_t *rows = (int32_t *)(void *)l->scratch;
    int32_t room = mz_bias_room(view);
    bool fast_view = mz_view_fast(view);
    mz_pack_t pack;
    mz_pack_open(&pack, view);
    pack.step = 4;
    // The padding at the sides stays zero.
    for (int32_t i = 0; i < 3 * (l->in_w + l->p_l + l->p_r); ++i) {
        rows[i] = 0;
    }
    for (int32_t c = 0, in_c = 0, copies = 0; c < l->out_c; ++c) {
        mz_channel_t channel;
        int16_t packed[12];
        int32_t w[9];
        mz_channels_load(view, c, 1, &channel);
        mz_pack_spread(&pack, c, packed, 1, 2, 3);
        for (int32_t tap = 0; tap < 9; ++tap) {
            w[tap] = packed[tap];
        }
        one_channel(view, c, in_c, w, &channel, fast_view && mz_channel_fast(&channel, room));
        if (++copies == l->multiplier) {
            copies = 0;
            ++in_c;
        }
    }
    if (fast_view) {
        mz_clamp(l, l->out, l->out_size);
    }
}

#endif
