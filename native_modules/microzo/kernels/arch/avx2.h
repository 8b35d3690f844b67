// Eight outputs of neighbouring channels in a vector.
#ifndef MZ_AVX2_H
#define MZ_AVX2_H

#include <immintrin.h>
#include <string.h>

#include "../base.h"

static inline __m256i mz_avx2_load(const int32_t *from) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

// mz_round_right(mz_high(acc, mult), right): the products of the even and of the odd channels have 64
// bits each.
static inline __m256i mz_avx2_requant(__m256i acc, __m256i mult, __m256i right) {
    __m256i half = _mm256_set1_epi64x(1ll << 30);
    __m256i even = _mm256_add_epi64(_mm256_mul_epi32(acc, mult), half);
    __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(acc, 32), _mm256_srli_epi64(mult, 32));
    odd = _mm256_slli_epi64(_mm256_add_epi64(odd, half), 1);
    __m256i v = _mm256_blend_epi32(_mm256_srli_epi64(even, 31), odd, 0xaa);
    v = _mm256_add_epi32(v, _mm256_srai_epi32(v, 31));
    v = _mm256_srav_epi32(v, right);
    return _mm256_srai_epi32(_mm256_add_epi32(v, _mm256_set1_epi32(1)), 1);
}

// The outputs limited to lo..hi, the zero point added, as bytes.
static inline void mz_avx2_store8(__m256i acc, __m256i mult, __m256i right, int32_t lo, int32_t hi, int32_t zp,
    int8_t *out) {
    __m256i v = mz_avx2_requant(acc, mult, right);
    v = _mm256_min_epi32(_mm256_max_epi32(v, _mm256_set1_epi32(lo)), _mm256_set1_epi32(hi));
    v = _mm256_add_epi32(v, _mm256_set1_epi32(zp));
    __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    _mm_storel_epi64((__m128i *)(void *)out, _mm_packs_epi16(words, words));
}

#endif
