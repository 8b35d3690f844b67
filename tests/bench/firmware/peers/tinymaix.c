// TinyMaix. It scales by floats, so that an output may differ by one, and does not saturate.
#include <tinymaix.h>

#include "peer.h"

static float scales[PEER_CHANNELS];

// Its padding is one number of the input; it has no clamps but those of its activations.
int peer_prepare(const mz_layer_t *l) {
    if ((l->kind != MZ_CONV && l->kind != MZ_DWCONV && l->kind != MZ_DENSE) || l->multiplier != 1
        || l->act_min > -128 || l->act_max < 127 || l->k_h * l->k_w > TM_MAX_KSIZE || l->k > TM_MAX_KCSIZE
        || l->out_c > TM_MAX_CSIZE) {
        return 0;
    }
    for (int32_t c = 0; c < l->out_c; ++c) {
        // A dense layer has one scale.
        if (l->kind == MZ_DENSE && (l->mult[c] != l->mult[0] || l->shift[c] != l->shift[0])) {
            return 0;
        }
        int32_t sum = 0;
        for (int32_t i = 0; i < l->k; ++i) {
            // Its rows are [input channel][tap].
            int32_t taps = l->k_h * l->k_w;
            int32_t from = l->kind == MZ_CONV ? i % taps * l->in_c + i / taps : i;
            peer.weights[c * l->k + i] = l->weights[c * l->k + from];
            sum += peer.weights[c * l->k + i];
        }
        peer.bias[c] = l->bias[c] - l->in_zp * sum;
        scales[c] = (float)l->mult[c] / 2147483648.0f;
        for (int32_t s = l->shift[c]; s < 0; ++s) {
            scales[c] /= 2;
        }
        for (int32_t s = l->shift[c]; s > 0; --s) {
            scales[c] *= 2;
        }
    }
    return 1;
}

void peer_run(const mz_layer_t *l) {
    tm_mat_t in = {3, (uint16_t)l->in_h, (uint16_t)l->in_w, (uint16_t)l->in_c, {(mtype_t *)l->in}};
    tm_mat_t out = {3, (uint16_t)l->out_h, (uint16_t)l->out_w, (uint16_t)l->out_c, {peer.out}};
    if (l->kind == MZ_DENSE) {
        tml_fc(&in, &out, peer.weights, peer.bias, scales, 1, l->in_zp, 1, l->out_zp);
        return;
    }
    tml_conv2d_dwconv2d(&in, &out, peer.weights, peer.bias, l->k_w, l->k_h, l->s_w, l->s_h, 1, 1, TM_ACT_NONE, l->p_t,
        l->p_b, l->p_l, l->p_r, l->kind == MZ_DWCONV, scales, 1, l->in_zp, 1, l->out_zp);
}
