// Checks that the entry functions share.
#ifndef MZ_ENTRY_H
#define MZ_ENTRY_H

#include "api.h"
#include "layer.h"

// A buffer of at least `bytes` bytes, made of raw bytes or of items of `width` bytes.
int32_t mz_need(const mz_arg_t *arg, int64_t bytes, int32_t width);
// Opens a net from its buffers; NULL for those that the call does not use.
int32_t mz_net_from(mz_net_t *net, const mz_arg_t *plan, const mz_arg_t *blob,
    const mz_arg_t *state, const mz_arg_t *arena);
// Loads operator `index` after checking the index.
int32_t mz_layer_at(const mz_net_t *net, int32_t index, mz_layer_t *layer);

static inline bool mz_seed_ok(int32_t seed) {
    return mz_within(seed, 0, MZ_SEED_LIMIT - 1);
}

static inline const int32_t *mz_ints(const mz_arg_t *arg) {
    return (const int32_t *)(const void *)arg->data;
}

static inline int32_t *mz_out(const mz_arg_t *arg) {
    return (int32_t *)(void *)arg->data;
}

#endif
