#include "pass.h"
#include "requant.h"

MZ_RARE void mz_pass_plain(mz_pass_t *pass, int32_t mode) {
    pass->mode = mode;
    pass->sign = 0;
    pass->seed = 0;
    pass->what = 0;
    pass->lo = 0;
    pass->hi = 0;
    pass->eps_shift = 0;
}

MZ_RARE void mz_view_open(mz_view_t *view, const mz_layer_t *layer, int32_t index, const mz_pass_t *pass) {
    view->layer = layer;
    view->wide = (pass->mode & MZ_MODE_WIDE) && layer->master != NULL;
    view->f = view->wide ? layer->f : 0;
    view->eps = 0;
    view->bias_sign = 0;
    view->scale_sign = 0;
    view->sums = NULL;
    view->sum_shift = 0;
    if (pass->sign == 0 || index < pass->lo || index >= pass->hi) {
        return;
    }
    if ((pass->what & MZ_WHAT_WEIGHTS) && layer->master != NULL) {
        int32_t eps = layer->eps_w;
        if (view->wide) {
            eps = (eps << view->f) >> pass->eps_shift;
        }
        view->eps = pass->sign * eps;
        view->weight_stream = mz_stream(pass->seed, 4 * (uint32_t)layer->tid);
    }
    if ((pass->what & MZ_WHAT_BIASES) && layer->state_bias != NULL) {
        view->bias_sign = pass->sign;
        view->bias_stream = mz_stream(pass->seed, 4 * (uint32_t)layer->tid + 1);
    }
    if ((pass->what & MZ_WHAT_MULTIPLIERS) && layer->state_mult != NULL) {
        view->scale_sign = pass->sign;
        view->scale_stream = mz_stream(pass->seed, 4 * (uint32_t)layer->tid + 3);
    }
}

MZ_RARE int32_t mz_layer_bias(const mz_layer_t *layer, int32_t c) {
    int32_t bias = layer->state_bias != NULL ? layer->state_bias[c] : layer->bias[c];
    return mz_sat(bias, -layer->b_max, layer->b_max);
}

MZ_RARE int32_t mz_layer_mult(const mz_layer_t *layer, int32_t c) {
    int32_t mult = layer->state_mult != NULL ? layer->state_mult[c] : layer->mult[c];
    return mz_max(mult, 0);
}

MZ_RARE int32_t mz_layer_shift(const mz_layer_t *layer, int32_t c) {
    int32_t shift = layer->state_mult != NULL ? layer->state_shift[c] : layer->shift[c];
    return mz_sat(shift, MZ_SHIFT_MIN, MZ_SHIFT_MAX);
}

// Perturbation size of a bias: eps_b quarters of an output LSB, in accumulator units.
static int32_t bias_eps(const mz_layer_t *layer, int32_t mult, int32_t shift) {
    uint32_t high = (uint32_t)mult >> 15;
    int32_t right = 14 + shift;
    int32_t lsb = 1;
    if (high != 0 && right <= 30) {
        uint32_t v = ((uint32_t)1 << 30) / high;
        if (v > (1 << 16) || right < -4) {
            lsb = mz_clip(mz_rsh(v, right), 1, 1 << 20); // no multiplier of a network
        } else if (right > 0) {
            lsb = mz_max(1, (int32_t)(v + ((uint32_t)1 << (right - 1))) >> right);
        } else {
            lsb = mz_min((int32_t)(v << -right), 1 << 20);
        }
    }
    return mz_max(1, (layer->eps_b * lsb) >> 2);
}

MZ_RARE int32_t mz_bias_eps(const mz_layer_t *layer, int32_t c) {
    return bias_eps(layer, mz_layer_mult(layer, c), mz_layer_shift(layer, c));
}

// Biases of channels c..c+n-1, whose multipliers are still those of the layer.
static void perturb_biases(const mz_view_t *view, int32_t c, int32_t n, mz_channel_t *channel) {
    uint32_t word = mz_word(view->bias_stream, (uint32_t)c >> 5);
    for (int32_t end = c + n; c < end; ++c, ++channel) {
        if ((c & 31) == 0) {
            word = mz_word(view->bias_stream, (uint32_t)c >> 5);
        }
        int32_t eps = bias_eps(view->layer, channel->mult, channel->shift + view->f);
        channel->bias += mz_sign_bit(word, c) ? -view->bias_sign * eps : view->bias_sign * eps;
    }
}

MZ_RARE void mz_renormalize(int64_t v, int32_t *mult, int32_t *shift) {
    int32_t moved = 0;
    if (v >= (int64_t)1 << 31) {
        v >>= 1;
        moved = 1;
    } else if (v != 0 && v < 1 << 30) {
        v <<= 1;
        moved = -1;
    }
    *mult = (int32_t)v;
    *shift = mz_sat(*shift + moved, MZ_SHIFT_MIN, MZ_SHIFT_MAX);
}

// Multipliers of channels c..c+n-1, by 1/256 of themselves.
static MZ_RARE void perturb_scales(const mz_view_t *view, int32_t c, int32_t n, mz_channel_t *channel) {
    for (int32_t end = c + n; c < end; ++c, ++channel) {
        bool negative = mz_sign_bit(mz_word(view->scale_stream, (uint32_t)c >> 5), c);
        int32_t shift = channel->shift + view->f;
        int64_t step = (channel->mult >> 8) * view->scale_sign;
        mz_renormalize(channel->mult + (negative ? -step : step), &channel->mult, &shift);
        channel->shift = shift - view->f;
    }
}

void mz_channels_load(const mz_view_t *view, int32_t c, int32_t n, mz_channel_t *channels) {
    const mz_layer_t *l = view->layer;
    const int32_t *biases = (l->state_bias != NULL ? l->state_bias : l->bias) + c;
    const int32_t *mults = (l->state_mult != NULL ? l->state_mult : l->mult) + c;
    const int8_t *shifts = (l->state_mult != NULL ? l->state_shift : l->shift) + c;
    int32_t most = l->b_max;
    int32_t f = view->f;
    mz_channel_t *channel = channels;
    for (int32_t i = 0; i < n; ++i, ++channel) {
        int32_t bias = biases[i];
        int32_t shift = shifts[i];
        if ((uint32_t)bias + (uint32_t)most > 2 * (uint32_t)most) {
            bias = bias < 0 ? -most : most;
        }
        channel->bias = bias;
        channel->mult = mz_max(mults[i], 0);
        if (!mz_within(shift, MZ_SHIFT_MIN, MZ_SHIFT_MAX)) {
            shift = shift < 0 ? MZ_SHIFT_MIN : MZ_SHIFT_MAX;
        }
        channel->shift = shift - f;
    }
    if (view->bias_sign) {
        perturb_biases(view, c, n, channels);
    }
    if (view->scale_sign) {
        perturb_scales(view, c, n, channels);
    }
    for (int32_t i = 0; f != 0 && i < n; ++i) {
        channels[i].bias *= 1 << f;
    }
    for (int32_t i = 0; l->logits != NULL && i < n; ++i) {
        channels[i].lmult = mz_max(l->lmult[c + i], 0);
        channels[i].lshift = mz_sat(l->lshift[c + i], MZ_SHIFT_MIN, MZ_SHIFT_MAX) - f;
    }
}
