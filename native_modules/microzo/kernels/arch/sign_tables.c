// Sums of signed inputs for dense layers without the DSP extension: four inputs whose signs
// are neighbours in a word have a table of the 16 sums they can make, used by all rows.
#include "arch.h"

#if MZ_WORDS && !MZ_DSP

#include "../dense.h"

#define GROUPS 8 // in a word of signs

#if MZ_THUMB1
typedef int32_t input_t; // expanded
#else
typedef int16_t input_t;
#endif

int32_t mz_signs_bytes(int32_t k) {
    return (int32_t)mz_row_words(k) * GROUPS * 16 * 2;
}

// The sum for the signs i and, negative, that for the opposite ones.
static inline void put(int16_t *sums, int32_t i, int32_t v) {
    sums[i] = (int16_t)v;
    sums[15 - i] = (int16_t)-v;
}

// Made from the expanded input, which ends with zeros.
void mz_signs_open(mz_signs_t *signs, const mz_view_t *view, void *data) {
    const mz_layer_t *l = view->layer;
    const input_t *x = (const input_t *)(const void *)l->scratch;
    int16_t *sums = data;
    signs->layer = l;
    signs->stream = view->weight_stream;
    signs->words = (int32_t)mz_row_words(l->k);
    signs->data = data;
    for (int32_t left = l->k4; left > 0; left -= 32, x += 32) {
        for (int32_t g = 0; g < GROUPS; ++g, sums += 16) {
            // Bits 4g..4g+3 belong to the inputs 4q + b with q = 4 * (g & 1) and up, b = g / 2.
            int32_t r = 16 * (g & 1) + (g >> 1);
            const input_t *from = x + r;
            int32_t v0, v1, v2, v3;
            if (left >= 32) {
                v0 = from[0];
                v1 = from[4];
                v2 = from[8];
                v3 = from[12];
            } else {
                v0 = r < left ? from[0] : 0;
                v1 = r + 4 < left ? from[4] : 0;
                v2 = r + 8 < left ? from[8] : 0;
                v3 = r + 12 < left ? from[12] : 0;
            }
            int32_t a = v0 + v1;
            int32_t b = v1 - v0;
            #pragma GCC unroll 2
            for (int32_t high = 0, v = v2 + v3; high < 8; high += 4, v = v3 - v2) {
                put(sums, high, v + a);
                put(sums, high + 1, v + b);
                put(sums, high + 2, v - b);
                put(sums, high + 3, v - a);
            }
        }
    }
}

void mz_signs_four(const mz_signs_t *signs, int32_t c, int32_t *sum) {
    uint32_t next = (uint32_t)(c * signs->words);
    for (int32_t row = 0; row < 4; ++row) {
        const uint8_t *sums = signs->data;
        int32_t total = 0;
        for (int32_t i = signs->words; i > 0; --i) {
            // Twice the index is the offset in the table.
            uint32_t s = mz_word(signs->stream, next++);
            total += *(const int16_t *)(const void *)(sums + ((s << 1) & 30));
            s >>= 3;
            #pragma GCC unroll 7
            for (int g = 1; g < GROUPS; ++g) {
                sums += 32;
                total += *(const int16_t *)(const void *)(sums + (s & 30));
                s >>= 4;
            }
            sums += 32;
        }
        sum[row] = total;
    }
}

#endif
