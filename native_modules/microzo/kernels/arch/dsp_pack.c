// Rows of weights for the DSP inner loop, perturbed while they are read.
#include "arch.h"

#if MZ_DSP

#include "../columns.h"
#include "../pack.h"
#include "dsp.h"

enum {
    FROM_INT8,
    FROM_MASTER, // rounded to int8
    FROM_WIDE, // 16w8a
};

// What a row needs beside its address. Perturbation: base = -|eps| is added while a
// weight is extended, then 2|eps| where the word has a bit; no clamping, no borrow.
typedef struct {
    const mz_word_t *from;
    mz_word_t *to; // the row's words in a quad lie four apart
    uint32_t base; // in both halves
    int32_t base1;
    uint32_t scale; // FROM_WIDE: 2^16 >> (8 - f)
    uint32_t twice; // 2|eps|
    uint32_t flip; // turns a sign word into the bits where 2|eps| is added
    uint32_t rotate; // log2 of twice if it is a power of two, so that a mask is enough
    bool power;
} row_t;

// Reads four weights as two pairs.
static inline __attribute__((always_inline)) void load_four(row_t *r, int kind, uint32_t *a,
    uint32_t *b) {
    if (kind == FROM_INT8) {
        uint32_t w = *r->from++;
        *a = mz_sxtab16(r->base, w);
        *b = mz_sxtab16_8(r->base, w);
        return;
    }
    uint32_t m = *r->from++;
    uint32_t n = *r->from++;
    if (kind == FROM_MASTER) {
        *a = mz_sxtab16_8(r->base, mz_add16(mz_pkhbt_16(m, n), 0x00800080));
        *b = mz_sxtab16_8(r->base, mz_add16(mz_pkhtb_16(n, m), 0x00800080));
    } else {
        uint32_t base = (uint32_t)r->base1;
        *a = mz_pkhbt_16(mz_smlawb(r->scale, m, base), mz_smlawb(r->scale, n, base));
        *b = mz_pkhbt_16(mz_smlawt(r->scale, m, base), mz_smlawt(r->scale, n, base));
    }
}

// Adds 2|eps| where the bits q of a word say so. With a power of two the word was
// rotated so that its bits have that weight already.
static inline __attribute__((always_inline)) void add_signs(const row_t *r, int kind, bool power,
    uint32_t word, int q, uint32_t *a, uint32_t *b) {
    uint32_t turned = q ? (word >> q) | (word << (32 - q)) : word;
    if (kind == FROM_WIDE) {
        uint32_t other = (word >> (q + 8)) | (word << (24 - q));
        uint32_t mask = power ? mz_both((int32_t)r->twice) : 0x00010001;
        uint32_t t = turned & mask;
        uint32_t u = other & mask;
        *a = mz_add16(*a, power ? t : t * r->twice);
        *b = mz_add16(*b, power ? u : u * r->twice);
    } else {
        uint32_t t = turned & (power ? r->twice * 0x01010101u : 0x01010101u);
        t = power ? t : t * r->twice;
        *a = mz_uxtab16(*a, t);
        *b = mz_uxtab16_8(*b, t);
    }
}

static inline __attribute__((always_inline)) void store_four(row_t *r, uint32_t a, uint32_t b) {
    r->to[0] = a;
    r->to[4] = b;
    r->to += 8;
}

static inline __attribute__((always_inline)) void plain_row(row_t r, int kind, int32_t k) {
    for (int32_t i = 0; i < k; i += 4) {
        uint32_t a, b;
        load_four(&r, kind, &a, &b);
        store_four(&r, a, b);
    }
}

static inline __attribute__((always_inline)) void signed_row(row_t r, int kind, bool power, int32_t k,
    mz_stream_t stream, uint32_t next) {
    int32_t i = 0;
    for (; i + 32 <= k; i += 32) {
        uint32_t word = mz_word(stream, next++) ^ r.flip;
        if (power) {
            word = (word << r.rotate) | (word >> (32 - r.rotate));
        }
        #pragma GCC unroll 8
        for (int q = 0; q < 8; ++q) {
            uint32_t a, b;
            load_four(&r, kind, &a, &b);
            add_signs(&r, kind, power, word, q, &a, &b);
            store_four(&r, a, b);
        }
    }
    if (i < k) {
        uint32_t word = mz_word(stream, next) ^ r.flip;
        if (power) {
            word = (word << r.rotate) | (word >> (32 - r.rotate));
        }
        for (; i < k; i += 4) {
            uint32_t a, b;
            load_four(&r, kind, &a, &b);
            add_signs(&r, kind, power, word, 0, &a, &b);
            store_four(&r, a, b);
            word = (word >> 1) | (word << 31);
        }
    }
}

static void signed_rows(row_t r, int kind, int32_t k, mz_stream_t stream, uint32_t next) {
    if (kind == FROM_INT8) {
        if (r.power) {
            signed_row(r, FROM_INT8, true, k, stream, next);
        } else {
            signed_row(r, FROM_INT8, false, k, stream, next);
        }
    } else if (kind == FROM_MASTER) {
        if (r.power) {
            signed_row(r, FROM_MASTER, true, k, stream, next);
        } else {
            signed_row(r, FROM_MASTER, false, k, stream, next);
        }
    } else if (r.power) {
        signed_row(r, FROM_WIDE, true, k, stream, next);
    } else {
        signed_row(r, FROM_WIDE, false, k, stream, next);
    }
}

// Rows of any length and address: packed in order, then spread.
static void spread_row(const mz_view_t *view, int32_t row, mz_word_t *to, int16_t *scratch) {
    mz_pack_row(view, row, scratch);
    const mz_word_t *from = (const mz_word_t *)(const void *)scratch;
    for (int32_t i = 0; i < view->layer->k4; i += 4) {
        uint32_t m = *from++;
        uint32_t n = *from++;
        to[0] = mz_pkhbt_16(m, n);
        to[4] = mz_pkhtb_16(n, m);
        to += 8;
    }
}

void mz_quad_row(const mz_view_t *view, int32_t row, int32_t i, void *weights, int16_t *scratch) {
    const mz_layer_t *l = view->layer;
    mz_word_t *to = (mz_word_t *)weights + i;
    int kind = l->master == NULL ? FROM_INT8 : view->wide ? FROM_WIDE : FROM_MASTER;
    const void *from = kind == FROM_INT8 ? (const void *)(l->weights + row * l->k)
        : (const void *)(l->master + row * l->k);
    if (l->k != l->k4 || ((uintptr_t)from & 3)) {
        spread_row(view, row, to, scratch);
        return;
    }
    int32_t size = view->eps < 0 ? -view->eps : view->eps;
    row_t r;
    r.from = from;
    r.to = to;
    r.base = mz_both(-size);
    r.base1 = -size;
    r.scale = 0x10000u >> (8 - view->f);
    r.twice = 2 * (uint32_t)size;
    r.flip = view->eps < 0 ? 0 : ~(uint32_t)0;
    r.rotate = 0;
    r.power = size != 0 && (r.twice & (r.twice - 1)) == 0;
    while (r.power && (r.twice >> r.rotate) > 1) {
        ++r.rotate;
    }
    if (size != 0) {
        signed_rows(r, kind, l->k, view->weight_stream, (uint32_t)row * mz_row_words(l->k));
    } else if (kind == FROM_INT8) {
        plain_row(r, FROM_INT8, l->k);
    } else if (kind == FROM_MASTER) {
        plain_row(r, FROM_MASTER, l->k);
    } else {
        plain_row(r, FROM_WIDE, l->k);
    }
}

#endif
