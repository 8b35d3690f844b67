// Rows of weights for the DSP inner loop, perturbed while they are read.
#include "arch.h"

#if MZ_DSP

#include "../columns.h"
#include "dsp.h"

enum {
    FROM_INT8,
    FROM_MASTER, // rounded to int8
    FROM_WIDE, // 16w8a
};

typedef struct {
    uint32_t base; // -|eps| in both halves
    uint32_t base1;
    uint32_t scale; // FROM_WIDE: 2^16 >> (8 - f)
    uint32_t twice; // 2|eps|, or 0
} signs_t;

// Four weights as two pairs, and 2|eps| where bits q of the word's bytes are set.
static inline __attribute__((always_inline)) void four(const signs_t *s, int kind,
    const mz_word_t *from, mz_word_t *to, uint32_t word, int q) {
    uint32_t a, b;
    uint32_t turned = q ? (word >> q) | (word << (32 - q)) : word;
    if (kind == FROM_INT8) {
        uint32_t w = from[q];
        a = mz_sxtab16(s->base, w);
        b = mz_sxtab16_8(s->base, w);
    } else {
        uint32_t m = from[2 * q];
        uint32_t n = from[2 * q + 1];
        if (kind == FROM_MASTER) {
            a = mz_sxtab16_8(s->base, mz_add16(mz_pkhbt_16(m, n), 0x00800080));
            b = mz_sxtab16_8(s->base, mz_add16(mz_pkhtb_16(n, m), 0x00800080));
        } else {
            a = mz_pkhbt_16(mz_smlawb(s->scale, m, s->base1), mz_smlawb(s->scale, n, s->base1));
            b = mz_pkhbt_16(mz_smlawt(s->scale, m, s->base1), mz_smlawt(s->scale, n, s->base1));
        }
    }
    if (kind == FROM_WIDE) {
        uint32_t other = (word >> (q + 8)) | (word << (24 - q));
        a = mz_add16(a, (turned & 0x00010001) * s->twice);
        b = mz_add16(b, (other & 0x00010001) * s->twice);
    } else {
        uint32_t t = (turned & 0x01010101) * s->twice;
        a = mz_uxtab16(a, t);
        b = mz_uxtab16_8(b, t);
    }
    to[8 * q] = a;
    to[8 * q + 4] = b;
}

static inline __attribute__((always_inline)) void pack_rows(const mz_pack_t *pack, int kind,
    int32_t first, int32_t n, mz_word_t *to) {
    const mz_layer_t *l = pack->view->layer;
    mz_stream_t stream = pack->view->weight_stream;
    signs_t s = {mz_both(pack->base), (uint32_t)pack->base, 0x10000u >> pack->shift,
        (uint32_t)pack->twice};
    for (int32_t i = 0; i < 4; ++i) {
        int32_t row = first + mz_min(i, n - 1);
        uint32_t next = (uint32_t)row * pack->words;
        const mz_word_t *from = kind == FROM_INT8
            ? (const mz_word_t *)(const void *)(l->weights + row * l->k)
            : (const mz_word_t *)(const void *)(l->master + row * l->k);
        mz_word_t *at = to + i;
        uint32_t word = 0;
        // Sixteen weights, half a word of signs, in a round.
        for (int32_t r = 0; r < l->k; r += 16) {
            if (r & 16) {
                word = (word >> 4) | (word << 28);
            } else if (s.twice) {
                word = mz_word(stream, next++) ^ pack->flip;
            }
            switch (l->k - r) {
                default:
                    four(&s, kind, from, at, word, 3);
                    // fall through
                case 12:
                    four(&s, kind, from, at, word, 2);
                    // fall through
                case 8:
                    four(&s, kind, from, at, word, 1);
                    // fall through
                case 4:
                    four(&s, kind, from, at, word, 0);
                    break;
            }
            from += kind == FROM_INT8 ? 4 : 8;
            at += 32;
        }
    }
}

void mz_quad_pack(const mz_pack_t *pack, int32_t first, int32_t n, void *weights) {
    const mz_layer_t *l = pack->view->layer;
    const void *from = l->master == NULL ? (const void *)l->weights : (const void *)l->master;
    if (l->k != l->k4 || ((uintptr_t)from & 3)) {
        for (int32_t i = 0; i < 4; ++i) {
            mz_pack_spread(pack, first + mz_min(i, n - 1), (int16_t *)weights + 2 * i, 8, 1, 9);
        }
    } else if (l->master == NULL) {
        pack_rows(pack, FROM_INT8, first, n, weights);
    } else if (!pack->view->wide) {
        pack_rows(pack, FROM_MASTER, first, n, weights);
    } else {
        pack_rows(pack, FROM_WIDE, first, n, weights);
    }
}

#endif
