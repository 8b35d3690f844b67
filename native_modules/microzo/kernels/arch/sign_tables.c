// Sums of signed inputs for dense layers without the DSP extension: four inputs whose signs
// are neighbours in a word have a table of the 16 sums they can make, used by all rows.
#include "arch.h"

#if MZ_WORDS && !MZ_DSP

#include "../dense.h"

#define GROUPS 8 // in a word of signs

static inline int32_t input(const mz_layer_t *l, int32_t r) {
    return r < l->k ? l->in[r] - l->in_zp : 0;
}

int32_t mz_signs_bytes(int32_t k) {
    return (int32_t)mz_row_words(k) * GROUPS * 16 * 2;
}

void mz_signs_open(mz_signs_t *signs, const mz_view_t *view, void *data) {
    const mz_layer_t *l = view->layer;
    int16_t *sums = data;
    signs->layer = l;
    signs->stream = view->weight_stream;
    signs->words = (int32_t)mz_row_words(l->k);
    signs->data = data;
    for (int32_t i = 0; i < GROUPS * signs->words; ++i) {
        // Bits 4g..4g+3 belong to the inputs 4q + b with q = 4 * (g & 1) and up, b = g / 2.
        int32_t g = i & 7;
        int32_t r = 32 * (i >> 3) + 16 * (g & 1) + (g >> 1);
        int32_t v0 = input(l, r), v1 = input(l, r + 4), v2 = input(l, r + 8), v3 = input(l, r + 12);
        int32_t low[4] = {v0 + v1, v1 - v0, v0 - v1, -v0 - v1};
        int32_t high = v2 + v3;
        for (int32_t j = 0; j < 4; ++j) {
            sums[0] = (int16_t)(low[0] + high);
            sums[1] = (int16_t)(low[1] + high);
            sums[2] = (int16_t)(low[2] + high);
            sums[3] = (int16_t)(low[3] + high);
            sums += 4;
            high = j == 0 ? v3 - v2 : j == 1 ? v2 - v3 : -v2 - v3;
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
