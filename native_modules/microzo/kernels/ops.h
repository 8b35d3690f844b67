// The operators. Each takes a checked layer, or a layer as a pass reads it.
#ifndef MZ_OPS_H
#define MZ_OPS_H

#include "pass.h"

void mz_conv(const mz_view_t *view);
void mz_dwconv(const mz_view_t *view);
void mz_dense(const mz_view_t *view);
void mz_avgpool(const mz_layer_t *layer);
void mz_maxpool(const mz_layer_t *layer);
void mz_mean(const mz_layer_t *layer);
void mz_add(const mz_layer_t *layer);
void mz_mul(const mz_layer_t *layer);
void mz_pad(const mz_layer_t *layer);
void mz_concat(const mz_layer_t *layer);
void mz_lut(const mz_layer_t *layer);

#endif
