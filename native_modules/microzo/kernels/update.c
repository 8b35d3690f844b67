#include "update.h"
#include "arch/arch.h"
#include "arch/steps.h"

// Four pairs at a time: their sign bits of an element make an index 0..15, and a table
// holds the sum of coefficient * sign for each. 64 pairs are 16 such groups.
#define GROUP 4
#define MAX_GROUPS (MZ_MAX_PAIRS / GROUP)

typedef struct {
    int32_t n;
    mz_stream_t streams[MZ_MAX_PAIRS];
    int32_t sums[MAX_GROUPS][16];
} pairs_t;

static void open_pairs(pairs_t *p, const int32_t *pairs, int32_t n, uint32_t t) {
    p->n = n;
    p->sums[0][0] = 0;
    for (int32_t g = 0; g < n; g += GROUP) {
        int32_t *sums = p->sums[g / GROUP];
        int32_t size = 1;
        sums[0] = 0;
        for (int32_t j = g; j < n && j < g + GROUP; ++j, size *= 2) {
            int32_t coef = pairs[2 * j + 1];
            p->streams[j] = mz_stream(pairs[2 * j], t);
            for (int32_t i = 0; i < size; ++i) {
                sums[i + size] = sums[i] - coef;
                sums[i] += coef;
            }
        }
    }
}

// The words of a group; those of missing pairs are 0.
static inline void draw(const pairs_t *p, int32_t g, uint32_t word_index, uint32_t *words) {
    for (int32_t j = 0; j < GROUP; ++j) {
        words[j] = g + j < p->n ? mz_word(p->streams[g + j], word_index) : 0;
    }
}

static inline void put(int32_t *sum, int32_t v, bool first) {
    *sum = first ? v : *sum + v;
}

// Sums of coefficient * sign of 32 elements.
static MZ_BUSY void gather(const pairs_t *p, uint32_t word_index, int32_t *sum) {
    for (int32_t g = 0; g == 0 || g < p->n; g += GROUP) {
        const int32_t *sums = p->sums[g / GROUP];
        uint32_t words[GROUP];
        draw(p, g, word_index, words);
        for (int32_t i = 0; i < 4; ++i) {
            uint32_t v = mz_nibbles(words, i);
            int32_t *to = sum + 4 * i;
            #pragma GCC unroll 4
            for (int32_t b = 0; b < 4; ++b) {
                put(&to[b], sums[(v >> 8 * b) & 15], g == 0);
                put(&to[b + 16], sums[(v >> (8 * b + 4)) & 15], g == 0);
            }
        }
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

static MZ_RARE void move_wide(int16_t *w, const int32_t *sum, int32_t count, int32_t eps, int32_t shift) {
    for (int32_t r = 0; r < count; ++r) {
        int64_t v = w[r] - mz_rsh((int64_t)sum[r] * eps, shift);
        w[r] = (int16_t)mz_clip(v, -MZ_MASTER_LIMIT, MZ_MASTER_LIMIT);
    }
}

static MZ_BUSY void many_pairs(const mz_layer_t *l, const pairs_t *p, bool narrow, int32_t shift) {
    int32_t sum[32];
    uint32_t next = 0;
    for (int32_t c = 0; c < l->out_c; ++c) {
        int16_t *row = l->master + c * l->k;
        for (int32_t start = 0; start < l->k; start += 32) {
            int32_t count = mz_min(32, l->k - start);
            gather(p, next++, sum);
            if (narrow) {
                move_narrow(row + start, sum, count, l->eps_w, shift);
            } else {
                move_wide(row + start, sum, count, l->eps_w, shift);
            }
        }
    }
}

// Up to four pairs: the table holds the steps themselves. A master less any step of more
// than twice the limit is at its limit.
static MZ_BUSY void few_pairs(const mz_layer_t *l, const pairs_t *p, int32_t shift) {
    int32_t steps[16];
    uint32_t words[GROUP];
    uint32_t next = 0;
    bool halves = l->k % 4 == 0;
#if MZ_DSP
    int16_t tops[16];
#endif
    for (int32_t i = 0; i < 1 << p->n; ++i) {
        int64_t step = mz_rsh((int64_t)p->sums[0][i] * l->eps_w, shift);
        steps[i] = mz_clip(step, -2 * MZ_MASTER_LIMIT, 2 * MZ_MASTER_LIMIT);
        halves = halves && mz_within(steps[i], -32000, 32000);
#if MZ_DSP
        tops[i] = (int16_t)(MZ_STEP_TOP - steps[i]);
#endif
    }
    for (int32_t c = 0; c < l->out_c; ++c) {
        int16_t *row = l->master + c * l->k;
#if MZ_DSP
        if (halves && p->n <= 2) {
            if (p->n == 1) {
                mz_row_one_pair(row, l->k, p->streams[0], next, steps);
            } else {
                mz_row_two_pairs(row, l->k, p->streams, next, tops);
            }
            next += mz_row_words(l->k);
            continue;
        }
#endif
        if (p->n == 1) {
            mz_row_any(row, l->k, p->streams[0], next, steps);
            next += mz_row_words(l->k);
            continue;
        }
        for (int32_t start = 0; start < l->k; start += 32) {
            draw(p, 0, next++, words);
            int32_t count = l->k - start;
            if (count < 32) {
                mz_few_steps(row + start, count, words, p->n, steps);
                break;
            }
#if MZ_DSP
            if (halves) {
                mz_run_of_halves(row + start, words, tops);
            } else {
                mz_few_steps(row + start, 32, words, p->n, steps);
            }
#else
            mz_run_of_steps(row + start, words, steps);
#endif
        }
    }
}

static void update_weights(const mz_layer_t *l, const int32_t *pairs, int32_t n, int32_t shift) {
    pairs_t p;
    open_pairs(&p, pairs, n, 4 * (uint32_t)l->tid);
    if (n > 0 && n <= GROUP) {
        few_pairs(l, &p, shift);
    } else {
        many_pairs(l, &p, fits_narrow(pairs, n, l->eps_w, shift), shift);
    }
}

// Biases, or multipliers with their shifts.
static MZ_RARE void update_channels(const mz_layer_t *l, bool scales, const int32_t *pairs, int32_t n,
    int32_t shift) {
    pairs_t p;
    int32_t sum[32];
    open_pairs(&p, pairs, n, 4 * (uint32_t)l->tid + (scales ? 3 : 1));
    for (int32_t c = 0; c < l->out_c; ++c) {
        if ((c & 31) == 0) {
            gather(&p, (uint32_t)c >> 5, sum);
        }
        int32_t mult = scales ? mz_layer_mult(l, c) : 0;
        int32_t unit = scales ? mult >> 8 : mz_bias_eps(l, c);
        int64_t step = mz_rsh((int64_t)sum[c & 31] * unit, shift + 8);
        if (scales) {
            int32_t exponent = mz_layer_shift(l, c);
            int64_t v = mz_sat64(mult - step, mult >> 1, 2 * (int64_t)mult);
            mz_renormalize(v, &mult, &exponent);
            l->state_mult[c] = mult;
            l->state_shift[c] = (int8_t)exponent;
        } else {
            l->state_bias[c] = mz_clip(l->state_bias[c] - step, -l->b_max, l->b_max);
        }
    }
}

void mz_update(const mz_layer_t *l, int32_t what, const int32_t *pairs, int32_t n, int32_t shift) {
    if ((what & MZ_WHAT_WEIGHTS) && l->master != NULL) {
        update_weights(l, pairs, n, shift);
    }
    if ((what & MZ_WHAT_BIASES) && l->state_bias != NULL) {
        update_channels(l, false, pairs, n, shift);
    }
    if ((what & MZ_WHAT_SCALES) && l->state_mult != NULL) {
        update_channels(l, true, pairs, n, shift);
    }
}

MZ_RARE void mz_init_state(const mz_layer_t *l) {
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
