#include "pack.h"
#include "arch/arch.h"

#if MZ_WORDS

void mz_pack_row(const mz_view_t *view, int32_t row, int16_t *to) {
    mz_pack_t pack;
    mz_pack_open(&pack, view);
    pack.step = 4;
    mz_pack_spread(&pack, row, to, 1, 2, 3);
}

#else

void mz_pack_row(const mz_view_t *view, int32_t row, int16_t *to) {
    const mz_layer_t *l = view->layer;
    int32_t k = l->k;
    int32_t start = row * k;
    if (l->master == NULL) {
        mz_arch_load8(l->weights + start, k, to);
    } else if (view->wide) {
        mz_arch_load16(l->master + start, k, 0, 8 - view->f, to);
    } else {
        mz_arch_load16(l->master + start, k, 128, 8, to);
    }
    if (view->eps != 0) {
        mz_arch_perturb(to, k, view->eps, view->weight_stream, (uint32_t)row * mz_row_words(k));
    }
    for (int32_t r = k; r < l->k4; ++r) {
        to[r] = 0;
    }
}

#endif

void mz_pack_open(mz_pack_t *pack, const mz_view_t *view) {
    pack->view = view;
    pack->add = view->wide ? 0 : 128;
    pack->shift = view->wide ? 8 - view->f : 8;
    pack->base = view->eps < 0 ? view->eps : -view->eps;
    pack->twice = -2 * pack->base;
    pack->flip = view->eps < 0 ? 0 : ~(uint32_t)0;
    pack->words = mz_row_words(view->layer->k);
    pack->step = 16;
}

// Weight i of a row, from int8 or from masters.
static inline int32_t weight(const mz_pack_t *p, const int8_t *bytes, const int16_t *masters, int32_t i) {
    return masters == NULL ? bytes[i] : (masters[i] + p->add) >> p->shift;
}

// Rows of whole words go elsewhere with DSP: one copy of this is enough then.
#if MZ_DSP
#define EACH_KIND __attribute__((noinline, noclone))
#else
#define EACH_KIND inline __attribute__((always_inline))
#endif

static EACH_KIND void spread(const mz_pack_t *p, const int8_t *bytes,
    const int16_t *masters, int32_t row, int16_t *to, int32_t a, int32_t b, int32_t c) {
    int32_t base = p->base;
    int32_t twice = p->twice;
    int32_t step = p->step;
    uint32_t next = (uint32_t)row * p->words;
    int32_t left = p->view->layer->k;
    while (left > 0) {
        uint32_t word = twice ? mz_word(p->view->weight_stream, next++) ^ p->flip : 0;
        int32_t fours = mz_min(left, 32) >> 2;
        left -= 4 * fours;
        bool ends = fours < 8; // else what is left belongs to the next word
        for (; fours > 0; --fours) {
            int32_t w0 = weight(p, bytes, masters, 0) + base;
            int32_t w1 = weight(p, bytes, masters, 1) + base;
            int32_t w2 = weight(p, bytes, masters, 2) + base;
            int32_t w3 = weight(p, bytes, masters, 3) + base;
            to[0] = (int16_t)(w0 + twice * (int32_t)(word & 1));
            to[a] = (int16_t)(w1 + twice * (int32_t)((word >> 8) & 1));
            to[b] = (int16_t)(w2 + twice * (int32_t)((word >> 16) & 1));
            to[c] = (int16_t)(w3 + twice * (int32_t)((word >> 24) & 1));
            word >>= 1;
            to += step;
            bytes += masters == NULL ? 4 : 0;
            masters += masters == NULL ? 0 : 4;
        }
        if (ends && left > 0) {
            int32_t w1 = left > 1 ? weight(p, bytes, masters, 1) + base : 0;
            int32_t w2 = left > 2 ? weight(p, bytes, masters, 2) + base : 0;
            to[0] = (int16_t)(weight(p, bytes, masters, 0) + base + twice * (int32_t)(word & 1));
            to[a] = (int16_t)(left > 1 ? w1 + twice * (int32_t)((word >> 8) & 1) : 0);
            to[b] = (int16_t)(left > 2 ? w2 + twice * (int32_t)((word >> 16) & 1) : 0);
            to[c] = 0;
            return;
        }
    }
}

#if MZ_THUMB2

// Depthwise layers have many short rows: without the ends of longer ones a weight takes a third.
MZ_BUSY void mz_pack_nine(const mz_pack_t *pack, int32_t row, int16_t *to) {
    const mz_layer_t *l = pack->view->layer;
    int32_t base = pack->base;
    int32_t twice = pack->twice;
    const int8_t *bytes = l->master == NULL ? l->weights + 9 * row : NULL;
    const int16_t *masters = l->master == NULL ? NULL : l->master + 9 * row;
    uint32_t word = twice ? mz_word(pack->view->weight_stream, (uint32_t)row) ^ pack->flip : 0;
    if (masters == NULL) {
        for (int32_t r = 0; r < 9; ++r) {
            to[4 * r] = (int16_t)(bytes[r] + base + twice * mz_sign_bit(word, r));
        }
        return;
    }
    int32_t add = pack->add;
    int32_t shift = pack->shift;
    #pragma GCC unroll 9
    for (int32_t r = 0; r < 9; ++r) {
        to[4 * r] = (int16_t)(((masters[r] + add) >> shift) + base + twice * mz_sign_bit(word, r));
    }
}

#endif

void mz_pack_spread(const mz_pack_t *pack, int32_t row, int16_t *to, int32_t a, int32_t b, int32_t c) {
    const mz_layer_t *l = pack->view->layer;
    if (l->master == NULL) {
        spread(pack, l->weights + row * l->k, NULL, row, to, a, b, c);
    } else {
        spread(pack, NULL, l->master + row * l->k, row, to, a, b, c);
    }
}
