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
    if (!mz_within(iy, 0, l->in_h - 1)) {
        for (int32_t i = 0; i < l->in_w; ++i) {
            to[i] = 0;
        }
        return;
    }
    const int8_t *x = l->in + iy * l->in_w * l->in_c + c;
    int32_t zp = l->in_zp;
    int32_t step = l->in_c;
    for (int32_t *end = to + l->in_w; to != end; ++to) {
        *to = *x - zp;
        x += step;
    }
}

static void outputs(const mz_view_t *view, int32_t oy, int32_t c, const int32_t *rows[3],
    const int32_t *w, const mz_channel_t *channel, bool fast) {
    const mz_layer_t *l = view->layer;
    const int32_t *x0 = rows[0], *x1 = rows[1], *x2 = rows[2];
    int32_t step = l->s_w;
    int32_t bias = channel->bias;
    if (!fast) {
        for (int32_t p = oy * l->out_w; p < (oy + 1) * l->out_w; ++p) {
            int32_t acc = bias + taps(x0, w) + taps(x1, w + 3) + taps(x2, w + 6);
            mz_output(view, p, c, 1, channel, &acc);
            x0 += step;
            x1 += step;
            x2 += step;
        }
        return;
    }
    int32_t low = (uint16_t)channel->mult;
    int32_t high = channel->mult >> 16;
    int32_t right = -channel->shift;
    int32_t round = (1 << (right - 1)) + l->out_zp * (1 << right);
    int8_t *out = l->out + oy * l->out_w * l->out_c + c;
    bool clamps = l->act_min > -128 || l->act_max < 127;
    for (int32_t i = l->out_w; i > 0; --i) {
        int32_t acc = bias + taps(x0, w) + taps(x1, w + 3) + taps(x2, w + 6);
        int32_t v = mz_scaled(acc, low, high, round, right);
        *out = (int8_t)(clamps ? mz_sat(v, l->act_min, l->act_max) : v);
        out += l->out_c;
        x0 += step;
        x1 += step;
        x2 += step;
    }
}

void mz_dw_channels(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    int32_t width = l->in_w + l->p_l + l->p_r;
    int32_t *slots = (int32_t *)(void *)l->scratch;
    int32_t room = mz_bias_room(view);
    bool fast_view = mz_view_fast(view);
    mz_pack_t pack;
    mz_pack_open(&pack, view);
    // The padding at the sides stays zero.
    for (int32_t i = 0; i < 3 * width; ++i) {
        slots[i] = 0;
    }
    for (int32_t c = 0, in_c = 0, copies = 0; c < l->out_c; ++c) {
        mz_channel_t channel;
        int16_t packed[48];
        int32_t w[9];
        int32_t done = 0;
        mz_channels_load(view, c, 1, &channel);
        mz_pack_spread(&pack, c, packed, 1, 2, 3);
        for (int32_t tap = 0; tap < 9; ++tap) {
            w[tap] = packed[(tap >> 2) * 16 + (tap & 3)];
        }
        bool fast = fast_view && mz_channel_fast(&channel, room);
        for (int32_t oy = 0; oy < l->out_h; ++oy) {
            const int32_t *rows[3];
            int32_t row = oy * l->s_h;
            int32_t slot = row % 3;
            done = mz_max(done, row);
            for (; done < row + 3; ++done) {
                expand(l, done - l->p_t, in_c, slots + done % 3 * width + l->p_l);
            }
            for (int32_t i = 0; i < 3; ++i) {
                rows[i] = slots + slot * width;
                slot = slot == 2 ? 0 : slot + 1;
            }
            outputs(view, oy, c, rows, w, &channel, fast);
        }
        if (++copies == l->multiplier) {
            copies = 0;
            ++in_c;
        }
    }
}

#endif
