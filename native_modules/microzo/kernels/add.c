// Sum or difference of two tensors of different scales.
#include "ops.h"
#include "output.h"
#include "requant.h"
#include "second.h"

static inline int8_t sum(const mz_layer_t *l, int32_t x1, int32_t x2, int32_t lo, int32_t hi) {
    int32_t a = mz_requant((x1 - l->in_zp) * (1 << 20), l->mult1, l->shift1);
    int32_t b = mz_requant((x2 - l->in2_zp) * (1 << 20), l->mult2, l->shift2);
    int32_t v = mz_requant(a + b, l->add_mult, l->add_shift);
    return (int8_t)(mz_sat(v, lo, hi) + l->out_zp);
}

// Any sum.
static MZ_RARE void general(const mz_layer_t *l) {
    int32_t lo = l->act_min - l->out_zp;
    int32_t hi = l->act_max - l->out_zp;
    mz_second_t second = mz_second(l);
    for (int32_t i = 0; i < l->out_size; ++i) {
        l->out[i] = sum(l, l->in[i], mz_second_next(&second), lo, hi);
    }
}

// How an input is scaled: shifts are never to the left, so the sum stays below 2^29.
typedef struct {
    int32_t zero, mult;
    int32_t negative; // what is added to negative products: -1, or 0 without a shift
    int32_t half, right;
} scale_t;

static inline scale_t open_scale(int32_t zp, int32_t mult, int32_t shift) {
    scale_t s = {-zp * (1 << 20), mult, shift < 0 ? -1 : 0, shift < 0 ? 1 << (-1 - shift) : 0, -shift};
    return s;
}

static inline int32_t scaled(const scale_t *s, int32_t x) {
    int32_t v = mz_high_small(x * (1 << 20) + s->zero, s->mult);
    return (v + ((v >> 31) & s->negative) + s->half) >> s->right;
}

// Where a table of the 256 values of an input costs less than scaling each output's.
#define TABLE_OUTPUTS 512

static void fill_table(const scale_t *s, int32_t *table) {
    for (int32_t x = -128; x < 128; ++x) {
        table[x & 255] = scaled(s, x);
    }
}

void mz_add(const mz_layer_t *l) {
    int32_t right = -l->add_shift;
    if ((l->flags & (MZ_FLAG_SPREAD_HW | MZ_FLAG_SPREAD_C)) || !mz_within(right, 1, 22)) {
        general(l);
        return;
    }
    scale_t first = open_scale(l->in_zp, l->mult1, l->shift1);
    scale_t second = open_scale(l->in2_zp, l->mult2, l->shift2);
    const int8_t *x1 = l->in;
    const int8_t *x2 = l->in2;
    int8_t *out = l->out;
    int8_t *end = out + l->out_size;
    int32_t mult = l->add_mult;
    int32_t round = (1 << (right - 1)) + l->out_zp * (1 << right);
    int32_t *table1 = (int32_t *)(void *)l->scratch;
    int32_t *table2 = table1 + 256;
    if (l->out_size >= TABLE_OUTPUTS && l->scratch_len >= 8 * 256) {
        fill_table(&first, table1);
        fill_table(&second, table2);
        while (out != end) {
            int32_t v = mz_high_small(table1[(uint8_t)*x1++] + table2[(uint8_t)*x2++], mult);
            *out++ = (int8_t)mz_sat8((v + (v >> 31) + round) >> right);
        }
    }
    while (out != end) {
        int32_t v = mz_high_small(scaled(&first, *x1++) + scaled(&second, *x2++), mult);
        *out++ = (int8_t)mz_sat8((v + (v >> 31) + round) >> right);
    }
    mz_clamp(l, l->out, l->out_size);
}
