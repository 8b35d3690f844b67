// How the channels of a convolution vary together, and weights that bring it back (recolor, SPEC.md
// 1.12).
#ifndef MZ_COLOR_H
#define MZ_COLOR_H

#include "layer.h"

#define MZ_COLORS 64 // channels at most: sums of products of as many Q23 numbers fit 64 bits
#define MZ_COLOR_SAMPLES (1 << 20) // positions at most
#define MZ_COLOR_VALUE (1 << 20) // limit of a measured value

// Adds the accumulators without bias of drawn output positions, >> shift, to c sums, and their
// products, the lower triangle by rows, to c(c+1)/2; modulo 2^64. The layer is a CONV.
void mz_color_sums(const mz_layer_t *layer, int32_t seed, int32_t sample, int32_t places, int32_t shift,
    int64_t *sums, int64_t *products);

// From sums over n positions to rows of int16, map[c*c], that mix the masters. root: of the clean
// correlations, the lower triangle, Q14. shrink: 256ths by which present correlations are brought
// nearer to none. room: int32[3*c*c]. MZ_E_VALUE for sums that n positions cannot give.
int32_t mz_color_map(int32_t c, int32_t n, int32_t shrink, const int64_t *sums, const int64_t *products,
    const int16_t *root, int32_t *room, int16_t *map);

// Every row of masters becomes a mixture of all rows, as long as masters allow.
void mz_color_mix(const mz_layer_t *layer, const int16_t *map);

#endif
