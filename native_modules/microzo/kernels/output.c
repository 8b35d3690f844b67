#include "output.h"

MZ_RARE int32_t mz_bias_room(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    int32_t input = mz_max(127 - l->in_zp, l->in_zp + 128);
    if (MZ_ABS_SUM(l) != 0) {
        return (1 << 30) - 1 - MZ_ABS_SUM(l) * input;
    }
    int32_t weight = l->master != NULL ? 127 : 128;
    int32_t eps = view->eps < 0 ? -view->eps : view->eps;
    int32_t reach = (weight * (1 << view->f) + eps) * l->k * input;
    return mz_max((1 << 30) - 1 - reach, -1);
}

MZ_RARE void mz_clamp(const mz_layer_t *l, int8_t *out, int32_t n) {
    int32_t lo = l->act_min;
    int32_t hi = l->act_max;
    for (int8_t *end = out + n; (lo > -128 || hi < 127) && out != end; ++out) {
        *out = (int8_t)mz_sat(*out, lo, hi);
    }
}

void mz_output(const mz_view_t *view, int32_t p, int32_t c, int32_t n,
    const mz_channel_t *channels, const int32_t *acc) {
    const mz_layer_t *l = view->layer;
    if (view->sums != NULL) {
        for (int32_t i = 0; i < n; ++i) {
            int64_t v = acc[i] >> view->sum_shift;
            int64_t *s1 = view->sums + c + i;
            int64_t *s2 = s1 + l->out_c;
            // Unsigned, because the caller's sums may hold anything.
            *s1 = (int64_t)((uint64_t)*s1 + (uint64_t)v);
            *s2 = (int64_t)((uint64_t)*s2 + (uint64_t)(v * v));
        }
        return;
    }
    int8_t *out = l->out + p * l->out_c + c;
    // Clamping before the zero point is added cannot overflow.
    int32_t zp = l->out_zp;
    int32_t lo = l->act_min - zp;
    int32_t hi = l->act_max - zp;
    if (l->flags & MZ_FLAG_ROUND_ONCE) {
        for (int32_t i = 0; i < n; ++i) {
            int32_t v = mz_requant_once(acc[i], channels[i].mult, channels[i].shift);
            out[i] = (int8_t)(mz_sat(v, lo, hi) + zp);
        }
    } else {
        for (int32_t i = 0; i < n; ++i) {
            int32_t v = mz_requant(acc[i], channels[i].mult, channels[i].shift);
            out[i] = (int8_t)(mz_sat(v, lo, hi) + zp);
        }
    }
    if (l->logits != NULL) {
        for (int32_t i = 0; i < n; ++i) {
            l->logits[c + i] = mz_logit(acc[i], channels[i].lmult, channels[i].lshift);
        }
    }
}
