// The operators. Each takes a checked layer, or a layer as a pass reads it.
#ifndef MZ_OPS_H
#define MZ_OPS_H

#include "pass.h"

void mz_conv(const mz_view_t *view);
void mz_dwconv(const mz_view_t *view);
void mz_dense(const mz_view_t *view);
// The layer as `view` reads it and, unless that is NULL, as its antithetic `other` does, with one
// read of the weights. The layers of the views are the same but for the output and, if it is not the
// same for both, the input with its own part of the scratch. False, and no output written, where
// that is not possible.
// kept: NULL, or a word and room for the out_c products of unperturbed weights and this input and
// for four more words. If the word is 0, they are made and kept, and it becomes 1; else they are
// not made again.
bool mz_dense_passes(const mz_view_t *view, const mz_view_t *other, int32_t *kept);
void mz_avgpool(const mz_layer_t *layer);
void mz_maxpool(const mz_layer_t *layer);
void mz_mean(const mz_layer_t *layer);
void mz_add(const mz_layer_t *layer);
void mz_mul(const mz_layer_t *layer);
void mz_pad(const mz_layer_t *layer);
void mz_concat(const mz_layer_t *layer);
void mz_lut(const mz_layer_t *layer);

#endif
