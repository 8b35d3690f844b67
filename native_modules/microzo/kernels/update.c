#include "update.h"

// Sums coefficient * sign of up to 32 elements that share their words (count of them
// are used, so only whole fours below it are formed).
static void gather(const mz_stream_t *streams, const int32_t *pairs, int32_t n, uint32_t word_index,
    int32_t count, int32_t *sum) {
    for (int32_t r = 0; r < 32; ++r) {
        sum[r] = 0;
    }
    for (int32_t j = 0; j < n; ++j) {
        uint32_t word = mz_word(streams[j], word_index);
        int32_t coef = pairs[2 * j + 1];
        int32_t twice = 2 * coef;
        for (int32_t *s = sum; s < sum + count; s += 4) {
            s[0] += coef - twice * (int32_t)(word & 1);
            s[1] += coef - twice * (int32_t)((word >> 8) & 1);
            s[2] += coef - twice * (int32_t)((word >> 16) & 1);
            s[3] += coef - twice * (int32_t)((word >> 24) & 1);
            word >>= 1;
        }
    }
}

static void open_streams(mz_stream_t *streams, const int32_t *pairs, int32_t n, uint32_t t) {
    for (int32_t j = 0; j < n; ++j) {
        streams[j] = mz_stream(pairs[2 * j], t);
    }
}

// Whether the largest step, with its rounding, fits in 32 bits.
static bool fits_narrow(const int32_t *pairs, int32_t n, int32_t eps, int32_t shift) {
    int64_t most = (int64_t)1 << shift;
    for (int32_t j = 0; j < n; ++j) {
        int32_t coef = pairs[2 * j + 1];
        most += (int64_t)(coef < 0 ? -coef : coef) * eps;
    }
    return most < (1 << 30);
}

static void move_narrow(int16_t *w, const int32_t *sum, int32_t count, int32_t eps, int32_t shift) {
    int32_t half = shift > 0 ? 1 << (shift - 1) : 0;
    for (int32_t r = 0; r < count; ++r) {
        int32_t v = w[r] - ((sum[r] * eps + half) >> shift);
        w[r] = (int16_t)mz_sat(v, -MZ_MASTER_LIMIT, MZ_MASTER_LIMIT);
    }
}

static void move_wide(int16_t *w, const int32_t *sum, int32_t count, int32_t eps, int32_t shift) {
    for (int32_t r = 0; r < count; ++r) {
        int64_t v = w[r] - mz_rsh((int64_t)sum[r] * eps, shift);
        w[r] = (int16_t)mz_sat64(v, -MZ_MASTER_LIMIT, MZ_MASTER_LIMIT);
    }
}

static void update_weights(const mz_layer_t *l, const int32_t *pairs, int32_t n, int32_t shift) {
    mz_stream_t streams[MZ_MAX_PAIRS];
    int32_t sum[32];
    uint32_t words = mz_row_words(l->k);
    bool narrow = fits_narrow(pairs, n, l->eps_w, shift);
    open_streams(streams, pairs, n, 4 * (uint32_t)l->tid);
    for (int32_t c = 0; c < l->out_c; ++c) {
        int16_t *row = l->master + c * l->k;
        for (int32_t start = 0; start < l->k; start += 32) {
            int32_t count = mz_min(32, l->k - start);
            gather(streams, pairs, n, (uint32_t)c * words + ((uint32_t)start >> 5), count, sum);
            if (narrow) {
                move_narrow(row + start, sum, count, l->eps_w, shift);
            } else {
                move_wide(row + start, sum, count, l->eps_w, shift);
            }
        }
    }
}

static void update_biases(const mz_layer_t *l, const int32_t *pairs, int32_t n, int32_t shift) {
    mz_stream_t streams[MZ_MAX_PAIRS];
    int32_t sum[32];
    open_streams(streams, pairs, n, 4 * (uint32_t)l->tid + 1);
    for (int32_t start = 0; start < l->out_c; start += 32) {
        int32_t count = mz_min(32, l->out_c - start);
        gather(streams, pairs, n, (uint32_t)start >> 5, count, sum);
        for (int32_t r = 0; r < count; ++r) {
            int64_t step = mz_rsh((int64_t)sum[r] * mz_bias_eps(l, start + r), shift + 8);
            int64_t v = l->state_bias[start + r] - step;
            l->state_bias[start + r] = (int32_t)mz_sat64(v, -l->b_max, l->b_max);
        }
    }
}

void mz_update(const mz_layer_t *l, int32_t what, const int32_t *pairs, int32_t n, int32_t shift) {
    if ((what & MZ_WHAT_WEIGHTS) && l->master != NULL) {
        update_weights(l, pairs, n, shift);
    }
    if ((what & MZ_WHAT_BIASES) && l->state_bias != NULL) {
        update_biases(l, pairs, n, shift);
    }
}

void mz_init_state(const mz_layer_t *l) {
    if (l->master != NULL) {
        for (int32_t i = 0; i < l->out_c * l->k; ++i) {
            l->master[i] = (int16_t)(l->weights[i] * 256);
        }
    }
    // One part after another: also where a broken plan lets them overlap, the result is fixed.
    for (int32_t c = 0; l->state_bias != NULL && c < l->out_c; ++c) {
        l->state_bias[c] = l->bias[c];
    }
    for (int32_t c = 0; l->state_mult != NULL && c < l->out_c; ++c) {
        l->state_mult[c] = l->mult[c];
    }
    for (int32_t c = 0; l->state_mult != NULL && c < l->out_c; ++c) {
        l->state_shift[c] = l->shift[c];
    }
}
