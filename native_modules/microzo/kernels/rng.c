#include "rng.h"

static uint32_t mix(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

mz_stream_t mz_stream(int32_t seed, uint32_t t) {
    mz_stream_t stream = {
        mix((uint32_t)seed + 0x9e3779b9u * (t + 1)),
        mix(~(uint32_t)seed + 0x85ebca6bu * (t + 1)),
    };
    return stream;
}

int32_t mz_derive(int32_t seed, int32_t a, int32_t b) {
    return (int32_t)(mz_word(mz_stream(seed, 0xD0000000u + (uint32_t)a), (uint32_t)b) >> 2);
}

void mz_shuffle(int32_t seed, uint16_t *index, int32_t n) {
    mz_stream_t stream = mz_stream(seed, 0xE0000000u);
    for (int32_t i = n - 1; i > 0; --i) {
        uint64_t wide = (uint64_t)mz_word(stream, (uint32_t)i) * (uint32_t)(i + 1);
        int32_t j = (int32_t)(wide >> 32);
        uint16_t kept = index[i];
        index[i] = index[j];
        index[j] = kept;
    }
}

void mz_signs(mz_stream_t stream, int32_t row, int32_t k, int8_t *out) {
    uint32_t next = (uint32_t)row * mz_row_words(k);
    uint32_t word = 0;
    for (int32_t r = 0; r < k; ++r) {
        if ((r & 31) == 0) {
            word = mz_word(stream, next++);
        }
        out[r] = (int8_t)(1 - 2 * mz_sign_bit(word, r));
    }
}
