// Entries of recolor: how channels vary together, the map that brings it back, and its use.
#include "color.h"
#include "entry.h"

static int32_t colored(const mz_layer_t *layer) {
    if (layer->kind != MZ_CONV) {
        return MZ_E_OP_KIND;
    }
    return layer->out_c <= MZ_COLORS ? MZ_OK : MZ_E_SHAPE;
}

static int32_t need_sums(const mz_arg_t *sums, const mz_arg_t *products, int32_t c) {
    MZ_TRY(mz_need(sums, 8 * (int64_t)c, 8));
    return mz_need(products, 4 * (int64_t)c * (c + 1), 8);
}

int32_t mz_api_color_sums(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], &args[2], &args[3]));
    MZ_TRY(mz_need(&args[4], 20, 4));
    const int32_t *params = mz_ints(&args[4]);
    int32_t op = params[0];
    int32_t seed = params[1];
    int32_t sample = params[2];
    int32_t places = params[3];
    int32_t shift = params[4];
    MZ_TRY(mz_layer_at(&net, op, &layer));
    MZ_TRY(colored(&layer));
    if (!mz_seed_ok(seed) || !mz_within(sample, 0, (1 << 28) - 1) || !mz_within(places, 0, 65535)
        || !mz_within(shift, 0, 31)) {
        return MZ_E_RANGE;
    }
    MZ_TRY(need_sums(&args[5], &args[6], layer.out_c));
    mz_color_sums(&layer, seed, sample, places, shift, (int64_t *)(void *)args[5].data,
        (int64_t *)(void *)args[6].data);
    return MZ_OK;
}

int32_t mz_api_color_map(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], NULL, NULL));
    MZ_TRY(mz_need(&args[2], 12, 4));
    const int32_t *params = mz_ints(&args[2]);
    int32_t n = params[1];
    int32_t shrink = params[2];
    MZ_TRY(mz_layer_at(&net, params[0], &layer));
    MZ_TRY(colored(&layer));
    if (!mz_within(n, 1, MZ_COLOR_SAMPLES) || !mz_within(shrink, 1, 256)) {
        return MZ_E_RANGE;
    }
    int32_t c = layer.out_c;
    // The roots stand behind mean and deviation.
    if (layer.stat == NULL || (int64_t)layer.stat_off + 8 * c + c * (c + 1) > net.blob.len) {
        return MZ_E_NO_STATS;
    }
    MZ_TRY(need_sums(&args[3], &args[4], c));
    MZ_TRY(mz_need(&args[5], 12 * (int64_t)c * c, 4));
    MZ_TRY(mz_need(&args[6], 2 * (int64_t)c * c, 2));
    return mz_color_map(c, n, shrink, (const int64_t *)(const void *)args[3].data,
        (const int64_t *)(const void *)args[4].data, (const int16_t *)(const void *)(layer.stat + 2 * c),
        mz_out(&args[5]), (int16_t *)(void *)args[6].data);
}

int32_t mz_api_color_mix(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    MZ_TRY(mz_net_from(&net, &args[0], NULL, &args[1], NULL));
    MZ_TRY(mz_layer_at(&net, args[2].n, &layer));
    MZ_TRY(colored(&layer));
    if (layer.master == NULL) {
        return MZ_E_FROZEN;
    }
    MZ_TRY(mz_need(&args[3], 2 * (int64_t)layer.out_c * layer.out_c, 2));
    mz_color_mix(&layer, (const int16_t *)(const void *)args[3].data);
    return MZ_OK;
}
