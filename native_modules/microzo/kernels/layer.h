// A network's buffers, and one operator of it after copying and checking. Kernels
// see only mz_layer_t: whatever a plan holds, its pointers and sizes are safe.
#ifndef MZ_LAYER_H
#define MZ_LAYER_H

#include "base.h"
#include "plan.h"

typedef struct {
    uint8_t *data;
    int32_t len;
} mz_span_t;

// Which buffers a call gives; offsets into others are not looked at.
enum {
    MZ_USE_BLOB = 1,
    MZ_USE_STATE = 2,
    MZ_USE_ARENA = 4,
    MZ_USE_ALL = 7,
};

typedef struct {
    const int32_t *plan;
    int32_t use;
    mz_span_t blob;
    mz_span_t state;
    mz_span_t arena;
    // Copied from the header, checked:
    int32_t n_ops;
    int32_t classes;
    int32_t *logits; // with MZ_USE_ARENA
    uint8_t *scratch;
    int32_t scratch_len;
} mz_net_t;

typedef struct {
    // The operator's words of the plan, in their order; mz_layer_load copies them.
    MZ_LAYER_WORDS
    // Sizes
    int32_t in_size, in2_size, out_size;
    int32_t scratch_len; // bytes of it that are this operator's
    int32_t k; // rows of weights: out_c rows of k
    int32_t k4; // k rounded up to 4
    int32_t multiplier; // depthwise: output channels of an input channel
    int32_t dil_h, dil_w; // cells from one kernel cell to the next
    // Activations; from here on all are pointers, NULL until they are placed
    const int8_t *in;
    const int8_t *in2;
    int8_t *out;
    uint8_t *scratch;
    uint8_t *room; // of a CONV: arena that is free while it runs, or NULL
    int32_t *logits; // where EMIT_LOGITS writes, else NULL
    const int8_t *weights; // also the table of a LUT
    const int32_t *bias;
    const int32_t *mult;
    const int8_t *shift;
    const int32_t *lmult;
    const int8_t *lshift;
    const int32_t *stat; // clean mean[out_c], sd[out_c], or NULL
    // Trainable values, NULL where frozen
    int16_t *master;
    int32_t *state_bias;
    int32_t *state_mult;
    int8_t *state_shift;
} mz_layer_t;

// Reads and checks the header. net->plan, use and the spans are set by the caller.
int32_t mz_net_open(mz_net_t *net, int32_t plan_len);
// Copies, checks and resolves operator `index` (in range).
int32_t mz_layer_load(const mz_net_t *net, int32_t index, mz_layer_t *layer);
int32_t mz_layers_check(const mz_net_t *net, int32_t first, int32_t last);

static inline bool mz_has_weights(int32_t kind) {
    return kind >= MZ_CONV && kind <= MZ_DENSE;
}

static inline bool mz_dilated(const mz_layer_t *l) {
    return (l->dil_h | l->dil_w) > 1;
}

static inline bool mz_has_second(int32_t kind) {
    return kind == MZ_ADD || kind == MZ_MUL || kind == MZ_CONCAT;
}

static inline bool mz_bytes_overlap(const void *a, uint32_t a_len, const void *b, uint32_t b_len) {
    uintptr_t x = (uintptr_t)a;
    uintptr_t y = (uintptr_t)b;
    return a_len && b_len && (x < y ? y - x < a_len : x - y < b_len);
}

#endif
