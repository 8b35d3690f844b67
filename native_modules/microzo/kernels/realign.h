#ifndef MZ_REALIGN_H
#define MZ_REALIGN_H

#include "layer.h"

typedef struct {
    int32_t bias;
    int32_t mult;
    int32_t shift;
} mz_realigned_t;

// Bias and multiplier of channel c that give it its clean statistics back, blended by
// alpha / 256 (SPEC.md 1.9).
mz_realigned_t mz_realign(const mz_layer_t *layer, int32_t c, int32_t mean, int32_t sd, int32_t alpha);

#endif
