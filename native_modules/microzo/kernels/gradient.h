#ifndef MZ_GRADIENT_H
#define MZ_GRADIENT_H

#include "layer.h"

#define MZ_GRADIENT_LIMIT (1 << 30)

// Saturates before and after, so that a buffer of any content is safe.
void mz_accumulate(int32_t *g, int64_t v);
// Closed-form gradients (SPEC.md 1.7); grad holds out_c * k weights, then out_c biases.
void mz_head_gradient(const mz_layer_t *head, const int32_t *err, int32_t *grad);
// gate: the ADD that the convolution's output goes through, or the convolution itself. pool is NULL
// where the head follows directly.
void mz_tail_gradient(const mz_layer_t *conv, const mz_layer_t *gate, const mz_layer_t *pool,
    const mz_layer_t *head, const int32_t *err, int32_t *grad);
// Adds the weight gradient of the operator for the output gradient in sums, which become 0.
void mz_node_gradient(const mz_layer_t *layer, int32_t shift, int32_t *sums, int32_t *grad);
void mz_gradient_apply(const mz_layer_t *layer, int32_t shift, int32_t decay, int32_t *grad);

#endif
