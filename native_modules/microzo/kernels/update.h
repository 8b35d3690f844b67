#ifndef MZ_UPDATE_H
#define MZ_UPDATE_H

#include "pass.h"

#define MZ_MAX_PAIRS 64
#define MZ_MASTER_LIMIT (127 * 256)

// Zeroth-order update of one layer from n (seed, coefficient) pairs (SPEC.md 1.8).
void mz_update(const mz_layer_t *layer, int32_t what, const int32_t *pairs, int32_t n, int32_t shift);
// Masters, biases and multipliers of the blob (only those that the state holds).
void mz_init_state(const mz_layer_t *layer);

#endif
