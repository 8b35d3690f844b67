// Counter-based random numbers (SPEC.md section 2).
#ifndef MZ_RNG_H
#define MZ_RNG_H

#include "base.h"

#define MZ_HASH1 0x7feb352du
#define MZ_HASH2 0x846ca68bu

typedef struct {
    uint32_t key1;
    uint32_t key2;
} mz_stream_t;

mz_stream_t mz_stream(int32_t seed, uint32_t t);
int32_t mz_derive(int32_t seed, int32_t a, int32_t b);
void mz_shuffle(int32_t seed, uint16_t *index, int32_t n);
void mz_signs(mz_stream_t stream, int32_t row, int32_t k, int8_t *out);

// A constant that the compiler must load: else it makes the second of mz_word from the first
// in three additions, and on Cortex-M0+ a product of a dozen shifts and additions.
static inline uint32_t mz_factor(uint32_t v) {
#if defined(__arm__)
    __asm ("" : "+r" (v));
#endif
    return v;
}

static inline uint32_t mz_word(mz_stream_t stream, uint32_t n) {
    uint32_t x = n + stream.key1;
    x ^= x >> 16;
    x *= mz_factor(MZ_HASH1);
    x += stream.key2;
    x ^= x >> 15;
    x *= mz_factor(MZ_HASH2);
    x ^= x >> 16;
    return x;
}

// Words of one row of k signs, and the bit of element r in its word: byte r & 3, bit
// (r & 31) / 4, so that four neighbours are one shift and one mask.
static inline uint32_t mz_row_words(int32_t k) {
    return ((uint32_t)k + 31) >> 5;
}

static inline int32_t mz_sign_bit(uint32_t word, int32_t r) {
    return (int32_t)(word >> (((r & 31) >> 2) + ((r & 3) << 3))) & 1;
}

#endif
