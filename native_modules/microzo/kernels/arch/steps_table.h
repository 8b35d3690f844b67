// Steps of words of masters looked up by their signs, without the DSP extension.
//
// An entry holds what is added to a word, and the same taken further by what the limits are away
// from the ends of 16 bits, and by the one that the lower half may carry. The sum of a master and
// the latter changes its sign if the master leaves its limits; also near 0, where the first sum may
// carry into the other half. Only then is more to be done. Masters must be within their limits.
#ifndef MZ_STEPS_TABLE_H
#define MZ_STEPS_TABLE_H

#include "arch.h"

typedef struct {
    uint32_t step, far;
} mz_step_t;

static inline int32_t mz_far(int32_t step) {
    return step > 0 ? step + 256 : step - 257;
}

// For all signs of two neighbours, those of the first in the low bits; sums: what is subtracted
// before it is shifted, for all signs of one.
static void mz_step_words(mz_step_t *to, const int32_t *sums, int32_t size, int32_t shift) {
    for (int32_t j = 0; j < size; ++j) {
        int32_t high = -(sums[j] >> shift);
        for (int32_t i = 0; i < size; ++i, ++to) {
            int32_t low = -(sums[i] >> shift);
            to->step = (uint32_t)low + ((uint32_t)high << 16);
            to->far = (uint32_t)mz_far(low) + ((uint32_t)mz_far(high) << 16);
        }
    }
}

// The entries of two neighbouring words for all four signs under one pair.
typedef struct {
    uint32_t step[2], far[2];
} mz_step_four_t;

static void mz_step_fours(mz_step_four_t *to, const int32_t *sums, int32_t shift) {
    mz_step_t words[4];
    mz_step_words(words, sums, 2, shift);
    for (int32_t i = 0; i < 16; ++i, ++to) {
        to->step[0] = words[i & 3].step;
        to->step[1] = words[i >> 2].step;
        to->far[0] = words[i & 3].far;
        to->far[1] = words[i >> 2].far;
    }
}

#endif
