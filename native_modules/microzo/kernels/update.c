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

// Bits of missing pairs of a group change nothing.
static void open_pairs(pairs_t *p, const int32_t *pairs, int32_t n, uint32_t t) {
    p->n = n;
    for (int32_t g = 0; g == 0 || g < n; g += GROUP) {
        int32_t *sums = p->sums[g / GROUP];
        sums[0] = 0;
        for (int32_t j = g, size = 1; j < g + GROUP; ++j, size *= 2) {
            int32_t coef = j < n ? pairs[2 * j + 1] : 0;
            p->streams[j] = mz_stream(j < n ? pairs[2 * j] : 0, t);
            for (int32_t i = 0; i < size; ++i) {
                sums[i + size] = sums[i] - coef;
                sums[i] += coef;
            }
        }
    }
}

// The entry of a table of 16 that bits at..at+3 of v choose.
static inline int32_t pick(const int32_t *table, uint32_t v, int32_t at) {
#if MZ_THUMB1
    // One shift less.
    uint32_t bytes = (at == 0 ? v << 2 : v >> (at - 2)) & 60;
    return *(const int32_t *)(const void *)((const uint8_t *)table + bytes);
#else
    return table[(v >> at) & 15];
#endif
}

// Four sums from every other nibble of v.
static inline void put_four(int32_t *to, const int32_t *sums, uint32_t v, int32_t at, bool first) {
    if (first) {
        to[0] = pick(sums, v, at);
        to[1] = pick(sums, v, at + 8);
        to[2] = pick(sums, v, at + 16);
        to[3] = pick(sums, v, at + 24);
    } else {
        to[0] += pick(sums, v, at);
        to[1] += pick(sums, v, at + 8);
        to[2] += pick(sums, v, at + 16);
        to[3] += pick(sums, v, at + 24);
    }
}

// Four sign words; nibble 2b of word i becomes that of element 4i + b, nibble 2b + 1 that of
// 4i + 16 + b.
static inline void sign_words(const mz_stream_t *streams, uint32_t index, uint32_t *words) {
    #pragma GCC unroll 4
    for (int32_t j = 0; j < GROUP; ++j) {
        words[j] = mz_word(streams[j], index);
    }
    mz_swap_bits(&words[0], &words[1], 1, 0x55555555);
    mz_swap_bits(&words[2], &words[3], 1, 0x55555555);
    mz_swap_bits(&words[0], &words[2], 2, 0x33333333);
    mz_swap_bits(&words[1], &words[3], 2, 0x33333333);
}

// Sums of coefficient * sign of `count` elements, up to 32, and of some behind them.
static MZ_BUSY void gather(const pairs_t *p, uint32_t word_index, int32_t count, int32_t *sum) {
    for (int32_t g = 0; g == 0 || g < p->n; g += GROUP) {
        const int32_t *sums = p->sums[g / GROUP];
        uint32_t words[GROUP];
        sign_words(p->streams + g, word_index, words);
        for (int32_t i = 0; i < GROUP && 4 * i < count; ++i) {
            if (g == 0) {
                put_four(sum + 4 * i, sums, words[i], 0, true);
                if (count > 16) {
                    put_four(sum + 4 * i + 16, sums, words[i], 4, true);
                }
            } else {
                put_four(sum + 4 * i, sums, words[i], 0, false);
                if (count > 16) {
                    put_four(sum + 4 * i + 16, sums, words[i], 4, false);
                }
            }
        }
    }
}

// The largest |sum| of coefficients.
static int64_t most_of(const int32_t *pairs, int32_t n) {
    int64_t most = 0;
    for (int32_t j = 0; j < n; ++j) {
        int32_t coef = pairs[2 * j + 1];
        most += coef < 0 ? -coef : coef;
    }
    return most;
}

// Makes the sums those of steps before they are shifted, with the rounding.
static void scale_sums(pairs_t *p, int32_t eps, int32_t shift) {
    for (int32_t g = 0; g == 0 || g < p->n; g += GROUP) {
        int32_t half = g == 0 && shift > 0 ? 1 << (shift - 1) : 0;
        for (int32_t i = 0; i < 16; ++i) {
            p->sums[g / GROUP][i] = p->sums[g / GROUP][i] * eps + half;
        }
    }
}

static MZ_RARE void move_wide(int16_t *w, const int32_t *sum, int32_t count, int32_t eps, int32_t shift) {
    for (int32_t r = 0; r < count; ++r) {
        int64_t v = w[r] - mz_rsh((int64_t)sum[r] * eps, shift);
        w[r] = (int16_t)mz_clip(v, -MZ_MASTER_LIMIT, MZ_MASTER_LIMIT);
    }
}

static MZ_BUSY void many_pairs(const mz_layer_t *l, const pairs_t *p, bool narrow, bool fours, int32_t shift) {
    int32_t sum[32];
    uint32_t next = 0;
    for (int32_t c = 0; c < l->out_c; ++c) {
        int16_t *row = l->master + c * l->k;
        for (int32_t start = 0; start < l->k; start += 32) {
            int32_t count = mz_min(32, l->k - start);
            gather(p, next++, count, sum);
            if (fours) {
                mz_move_fours(row + start, sum, count, shift);
            } else if (narrow) {
                mz_move_any(row + start, sum, count, shift);
            } else {
                move_wide(row + start, sum, count, l->eps_w, shift);
            }
        }
    }
}

#if MZ_WORDS && !MZ_DSP

// Rows of whole sign words follow each other as if they were one.
static MZ_BUSY void one_pair(const mz_layer_t *l, const pairs_t *p, int32_t shift) {
    bool whole = l->k % 32 == 0;
    mz_one_t one;
    mz_one_open(&one, p->streams[0]);
    mz_step_fours(one.table, p->sums[0], shift);
    mz_rows_one(l->master, whole ? l->k * l->out_c : l->k, whole ? 1 : l->out_c, &one);
}

#endif

#if MZ_THUMB1

static MZ_BUSY void two_pairs(const mz_layer_t *l, const pairs_t *p, int32_t shift) {
    mz_step_t table[16];
    uint32_t next = 0;
    mz_step_words(table, p->sums[0], 4, shift);
    for (int32_t c = 0; c < l->out_c; ++c) {
        mz_row_two(l->master + c * l->k, l->k, p->streams, next, table);
        next += mz_row_words(l->k);
    }
}

static MZ_BUSY void four_pairs(const mz_layer_t *l, const pairs_t *p, int32_t shift) {
    mz_step_t table[32];
    uint32_t words[GROUP], signs[2 * GROUP];
    uint32_t next = 0;
    uint32_t low = mz_factor(MZ_OFFSETS);
    int16_t *row = l->master;
    mz_step_halves(table, p->sums[0], shift);
    for (int16_t *end = row + l->out_c * l->k; row != end; row += l->k) {
        int16_t *w = row;
        for (int32_t left = l->k; left > 0; left -= 32, w += 32) {
            sign_words(p->streams, next++, words);
            #pragma GCC unroll 4
            for (int32_t i = 0; i < GROUP; ++i) {
                signs[i] = (words[i] << 3) & low;
                signs[i + GROUP] = (words[i] >> 1) & low;
            }
            mz_fours_four(w, signs, table, mz_min(left, 32) >> 2);
        }
    }
}

// Whether up to four pairs were applied: rows of whole fours.
static bool few_pairs(const mz_layer_t *l, const pairs_t *p, int32_t shift) {
    if (l->k % 4 != 0 || !mz_within(p->n, 1, GROUP)) {
        return false;
    }
    (p->n == 1 ? one_pair : p->n == 2 ? two_pairs : four_pairs)(l, p, shift);
    return true;
}

#else

// Whether one or two pairs were applied: rows of whole eights.
static MZ_BUSY bool few_pairs(const mz_layer_t *l, const pairs_t *p, int32_t shift) {
    uint32_t steps[16];
    uint32_t next = 0;
    int32_t k = l->k;
    if (k % 8 != 0 || !mz_within(p->n, 1, 2)) {
        return false;
    }
#if MZ_THUMB2 && !MZ_DSP
    if (p->n == 1) {
        one_pair(l, p, shift);
        return true;
    }
#endif
    int32_t last = (1 << p->n) - 1;
    for (int32_t i = 0; i < 16; ++i) {
        steps[i] = mz_halves(p->sums[0][i & last] >> shift, p->sums[0][(i >> 2) & last] >> shift);
    }
    int16_t *row = l->master;
#if !MZ_WORDS || MZ_DSP
    int32_t down = p->sums[0][0] >> shift;
    int32_t up = p->sums[0][1] >> shift;
#endif
#if MZ_DSP
    mz_one_t one = {mz_both(255 - down), mz_both(255 - up),
        0x01ff01ff, 0x01000100, MZ_HASH1, p->streams[0].key2, MZ_HASH2};
#endif
    for (int16_t *end = row + l->out_c * k; row != end; row += k) {
#if MZ_DSP
        if (p->n == 1 && k % 16 == 0) {
            next += mz_row_words(k);
            mz_row_one(row + k, k, next - 1 + p->streams[0].key1, &one);
            continue;
        }
#endif
#if !MZ_WORDS
        if (p->n == 1 && up == -down) {
            mz_row_one(row, k, p->streams[0], next, down);
            next += mz_row_words(k);
            continue;
        }
#endif
        mz_row_two(row, k, p->streams, p->n, next, steps);
        next += mz_row_words(k);
    }
    return true;
}

#endif

static void update_weights(const mz_layer_t *l, const int32_t *pairs, int32_t n, int32_t shift) {
    pairs_t p;
    open_pairs(&p, pairs, n, 4 * (uint32_t)l->tid);
    // The largest step, before it is shifted, with its rounding.
    int64_t most = most_of(pairs, n) * l->eps_w + ((int64_t)1 << shift);
    bool narrow = most < 1 << 30;
    bool small = narrow && most >> shift <= MZ_STEP_MOST;
    if (narrow) {
        scale_sums(&p, l->eps_w, shift);
    }
    if (!small || !few_pairs(l, &p, shift)) {
        many_pairs(l, &p, narrow, small && l->k % 4 == 0, shift);
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
            gather(&p, (uint32_t)c >> 5, 32, sum);
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
    if ((what & MZ_WHAT_MULTIPLIERS) && l->state_mult != NULL) {
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
