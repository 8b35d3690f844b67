// Sums over patches of an input at drawn places (refilter, SPEC.md 1.11).
#ifndef MZ_PATCHES_H
#define MZ_PATCHES_H

#include "layer.h"

#define MZ_PATCH_MOST 255 // values of a patch

// Adds the values of `patches` windows of a CONV's input to k sums, and their products, the lower
// triangle by rows, to k(k+1)/2; modulo 2^32, because the caller's sums may hold anything.
void mz_patch_sums(const mz_layer_t *layer, int32_t seed, int32_t sample, int32_t patches, int32_t *sums,
    int32_t *products);

#endif
