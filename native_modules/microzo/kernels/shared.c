#include "shared.h"

const mz_shared_t *mz_shared;

int32_t mz_need(const mz_arg_t *arg, int64_t bytes, int32_t width) {
    return mz_shared->need(arg, bytes, width);
}

int32_t mz_net_from(mz_net_t *net, const mz_arg_t *plan, const mz_arg_t *blob, const mz_arg_t *state,
    const mz_arg_t *arena) {
    return mz_shared->net_from(net, plan, blob, state, arena);
}

int32_t mz_layer_at(const mz_net_t *net, int32_t index, mz_layer_t *layer) {
    return mz_shared->layer_at(net, index, layer);
}
