// Outputs of neighbouring channels that nothing but a multiplication, a shift to the right and the
// layer's range makes: without the cases that few layers have, and by vectors where there are some.
#ifndef MZ_FAST_H
#define MZ_FAST_H

#include "output.h"
#if MZ_AVX2
#include "arch/avx2.h"
#endif

#define MZ_FAST_MOST 16

typedef struct {
    int32_t mult[MZ_FAST_MOST];
    int32_t right[MZ_FAST_MOST];
    int32_t lo, hi, zp; // range of the outputs less the zero point
} mz_fast_t;

// False if a channel's outputs need mz_output.
static inline bool mz_fast_open(mz_fast_t *fast, const mz_view_t *view, const mz_channel_t *channels, int32_t n) {
    const mz_layer_t *l = view->layer;
    bool ok = mz_view_fast(view);
    for (int32_t i = 0; i < n; ++i) {
        ok = ok && channels[i].shift < 0;
        fast->mult[i] = channels[i].mult;
        fast->right[i] = mz_min(-1 - channels[i].shift, 31);
    }
    fast->zp = l->out_zp;
    fast->lo = l->act_min - l->out_zp;
    fast->hi = l->act_max - l->out_zp;
    return ok;
}

static inline void mz_fast_store(const mz_fast_t *fast, const int32_t *acc, int32_t n, int8_t *out) {
    int32_t i = 0;
#if MZ_AVX2
    for (; i + 8 <= n; i += 8) {
        mz_avx2_store8(mz_avx2_load(acc + i), mz_avx2_load(fast->mult + i), mz_avx2_load(fast->right + i), fast->lo,
            fast->hi, fast->zp, out + i);
    }
#endif
    for (; i < n; ++i) {
        int32_t v = mz_round_right(mz_high(acc[i], fast->mult[i]), fast->right[i]);
        out[i] = (int8_t)(mz_sat(v, fast->lo, fast->hi) + fast->zp);
    }
}

#endif
