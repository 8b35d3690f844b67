// Entries that change or export trainable values by zeroth-order updates.
#include "entry.h"
#include "pack.h"
#include "update.h"

static bool shift_ok(int32_t shift) {
    return mz_within(shift, 0, 31);
}

int32_t mz_api_update(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    int32_t pairs[2 * MZ_MAX_PAIRS];
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], &args[2], NULL));
    MZ_TRY(mz_need(&args[4], 5 * 4, 4));
    const int32_t *params = mz_ints(&args[4]);
    int32_t lo = params[0];
    int32_t hi = params[1];
    int32_t what = params[2];
    int32_t n = params[3];
    int32_t shift = params[4];
    if (!mz_within(hi, 0, net.n_ops) || !mz_within(lo, 0, hi) || !mz_within(what, 0, MZ_WHAT_ALL)
        || !mz_within(n, 0, MZ_MAX_PAIRS) || !shift_ok(shift)) {
        return MZ_E_VALUE;
    }
    MZ_TRY(mz_need(&args[5], 8 * n, 4));
    for (int32_t j = 0; j < n; ++j) {
        pairs[2 * j] = mz_ints(&args[5])[2 * j];
        pairs[2 * j + 1] = mz_ints(&args[5])[2 * j + 1];
        if (!mz_seed_ok(pairs[2 * j]) || !mz_within(pairs[2 * j + 1], -(1 << 20), 1 << 20)) {
            return MZ_E_VALUE;
        }
    }
    MZ_TRY(mz_layers_check(&net, lo, hi));
    for (int32_t i = lo; i < hi; ++i) {
        MZ_TRY(mz_layer_load(&net, i, &layer));
        mz_update(&layer, what, pairs, n, shift);
    }
    return MZ_OK;
}

int32_t mz_api_init_state(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], &args[2], NULL));
    MZ_TRY(mz_layers_check(&net, 0, net.n_ops));
    for (int32_t i = 0; i < net.n_ops; ++i) {
        MZ_TRY(mz_layer_load(&net, i, &layer));
        mz_init_state(&layer);
    }
    return MZ_OK;
}

int32_t mz_api_export_weights(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    MZ_TRY(mz_net_from(&net, &args[0], NULL, &args[1], NULL));
    MZ_TRY(mz_layer_at(&net, args[2].n, &layer));
    if (layer.master == NULL) {
        return MZ_E_FROZEN;
    }
    int32_t n = layer.out_c * layer.k;
    MZ_TRY(mz_need(&args[3], n, 1));
    int8_t *out = (int8_t *)args[3].data;
    for (int32_t i = 0; i < n; ++i) {
        out[i] = (int8_t)mz_min(mz_round_master(layer.master[i]), 127);
    }
    return MZ_OK;
}
