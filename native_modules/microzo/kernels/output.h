// Where accumulators go: int8 outputs, logits, or statistics.
#ifndef MZ_OUTPUT_H
#define MZ_OUTPUT_H

#include "pass.h"
#include "requant.h"

#define MZ_LOGIT_LIMIT (1 << 20)

static inline int32_t mz_logit(int32_t acc, int32_t mult, int32_t shift) {
    return mz_sat(mz_requant(acc, mult, shift), -MZ_LOGIT_LIMIT, MZ_LOGIT_LIMIT);
}

// Fast paths double the accumulator, so |acc| must stay below 2^30. A plan promises that
// for unperturbed biases; this is the largest |bias| of a pass for which it is sure. Weights are
// at most 128/127 of what the plan was checked for, so the product stays below 2^31.
int32_t mz_bias_room(const mz_view_t *view);

// Whether a fast path may make a layer's outputs: int8, of two roundings, and nothing else.
static inline bool mz_view_fast(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    return view->sums == NULL && l->logits == NULL && !(l->flags & MZ_FLAG_ROUND_ONCE);
}

// Whether a fast path may make this channel's outputs.
static inline bool mz_channel_fast(const mz_channel_t *channel, int32_t room) {
    return mz_within(channel->shift, -22, -1) && mz_within(channel->bias, -room, room);
}

// n outputs of saturated int8 to the layer's range.
void mz_clamp(const mz_layer_t *layer, int8_t *out, int32_t n);

// Accumulators of n neighbouring channels at output position p.
void mz_output(const mz_view_t *view, int32_t p, int32_t c, int32_t n, const mz_channel_t *channels,
    const int32_t *acc);

#endif
