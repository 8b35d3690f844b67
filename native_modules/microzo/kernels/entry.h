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

// Where raw bytes go: byte b of a sample becomes map[b].
typedef struct {
    int8_t *to;
    const int8_t *map;
    int32_t count;
} mz_input_t;

// Of the arguments of `input`: plan, blob, arena, sample. Inline, for a native module has one caller.
static inline int32_t mz_input_open(const mz_arg_t *args, mz_input_t *input) {
    mz_net_t net;
    MZ_TRY(mz_net_from(&net, &args[0], NULL, NULL, &args[2]));
    int32_t h = net.plan[MZ_H_IN_H];
    int32_t w = net.plan[MZ_H_IN_W];
    int32_t c = net.plan[MZ_H_IN_C];
    int32_t table = net.plan[MZ_H_TABLE_OFF];
    int32_t at = net.plan[MZ_HEADER_WORDS + MZ_O_IN_OFF];
    if (!mz_within(h, 1, 65535) || !mz_within(w, 1, 65535) || !mz_within(c, 1, 65535)) {
        return MZ_E_SHAPE;
    }
    int64_t count = (int64_t)h * w * c;
    MZ_TRY(mz_need(&args[3], count, 1));
    if (args[1].n < 256 || !mz_within(table, 0, args[1].n - 256) || at < 0
        || at > args[2].n - count) {
        return MZ_E_OFFSET;
    }
    input->to = (int8_t *)args[2].data + at;
    input->map = (const int8_t *)args[1].data + table;
    input->count = (int32_t)count;
    return MZ_OK;
}

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
