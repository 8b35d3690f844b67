// Rows of weights as int16, perturbed while they are read (SPEC.md 1.4, 1.5).
#ifndef MZ_PACK_H
#define MZ_PACK_H

#include "pass.h"

// Writes row `row` (output channel) of the layer: k entries, then zeros up to k4.
void mz_pack_row(const mz_view_t *view, int32_t row, int16_t *to);

// A weight as the unperturbed 8w8a forward reads it.
static inline int32_t mz_round_master(int16_t master) {
    return (master + 128) >> 8;
}

static inline int32_t mz_plain_weight(const mz_layer_t *layer, int32_t index) {
    return layer->master != NULL ? mz_round_master(layer->master[index]) : layer->weights[index];
}

#endif
