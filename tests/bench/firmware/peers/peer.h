// A library beside the kernels: one layer at a time, the same weights and inputs.
#ifndef PEER_H
#define PEER_H

#include "layer.h"

#define PEER_CHANNELS 1024

// What a library is given beside the layer: parameters as it wants them are made beforehand, which is
// not counted.
typedef struct {
    int32_t bias[PEER_CHANNELS];
    int32_t mult[PEER_CHANNELS];
    int32_t shift[PEER_CHANNELS]; // to the left
    int8_t weights[96 * 1024]; // depthwise: [tap][channel]; others as the layer's
    int8_t out[64 * 1024];
    uint8_t work[64 * 1024] __attribute__((aligned(16)));
} peer_t;

extern peer_t peer;
// 0 if the library has no such layer.
int peer_prepare(const mz_layer_t *layer);
void peer_run(const mz_layer_t *layer);

#endif
