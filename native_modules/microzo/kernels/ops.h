// The operators. Each takes a checked layer, or a layer as a pass reads it.
#ifndef MZ_OPS_H
#define MZ_OPS_H

#include "pass.h"

void mz_conv(const mz_view_t *view);
void mz_dwconv(const mz_view_t *view);
void mz_dense(const mz_view_t *view);
// Both of an antithetic pair of views of one layer, with one read of weights and input;
// false, and nothing done, where that is not possible.
bool mz_dense_pair(const mz_view_t *view, const mz_view_t *other);
void mz_avgpool(const mz_layer_t *layer);
void mz_maxpool(const mz_layer_t *layer);
void mz_mean(const mz_layer_t *layer);
void mz_add(const mz_layer_t *layer);
void mz_mul(const mz_layer_t *layer);
void mz_pad(const mz_layer_t *layer);
void mz_concat(const mz_layer_t *layer);
void mz_lut(const mz_layer_t *layer);

#endif
