// Rows of weights as int16, perturbed while they are read (SPEC.md 1.4, 1.5).
#ifndef MZ_PACK_H
#define MZ_PACK_H

#include "pass.h"

// How a view reads its weights, the same for all rows. A perturbation adds -|eps| to every
// weight and 2|eps| where a bit of the flipped sign word is set: exact, no clamping.
typedef struct {
    const mz_view_t *view;
    int32_t add, shift; // of masters: (m + add) >> shift
    int32_t base; // -|eps|
    int32_t twice; // 2|eps|
    uint32_t flip;
    uint32_t words; // sign words of a row
    int32_t step; // of mz_pack_spread, in halfwords
    int32_t planes; // of a convolution, see mz_gemm_open
} mz_pack_t;

void mz_pack_open(mz_pack_t *pack, const mz_view_t *view);
// Writes a row spread out: with t = g * step, weights 4g..4g+3 to to[t], to[t + a], to[t + b]
// and to[t + c], zeros for the rest of the last four.
void mz_pack_spread(const mz_pack_t *pack, int32_t row, int16_t *to, int32_t a, int32_t b, int32_t c);

// The same of a row of nine weights, four halfwords apart.
void mz_pack_nine(const mz_pack_t *pack, int32_t row, int16_t *to);

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
