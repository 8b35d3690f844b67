// The second operand of a sum or product, value by value, spread where it is smaller.
#ifndef MZ_SECOND_H
#define MZ_SECOND_H

#include "layer.h"

typedef struct {
    const int8_t *at;
    int32_t step; // to the next channel
    int32_t turn; // back or on, after the last channel
    int32_t channels, left;
} mz_second_t;

static inline mz_second_t mz_second(const mz_layer_t *l) {
    bool one_place = l->flags & MZ_FLAG_SPREAD_HW;
    bool one_channel = l->flags & MZ_FLAG_SPREAD_C;
    mz_second_t second;
    second.at = l->in2;
    second.step = one_channel ? 0 : 1;
    second.turn = one_place ? -second.step * l->in_c : one_channel ? 1 : 0;
    second.channels = l->in_c;
    second.left = l->in_c;
    return second;
}

static inline int32_t mz_second_next(mz_second_t *second) {
    int32_t v = *second->at;
    second->at += second->step;
    if (--second->left == 0) {
        second->left = second->channels;
        second->at += second->turn;
    }
    return v;
}

#endif
