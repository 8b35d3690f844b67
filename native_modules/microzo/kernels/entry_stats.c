// Entries of realign: channel statistics, new biases and multipliers; of refilter: sums of patches.
#include "entry.h"
#include "ops.h"
#include "patches.h"
#include "realign.h"
#include "requant.h"
#include "stats.h"

int32_t mz_api_stats(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    mz_pass_t pass;
    mz_view_t view;
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], &args[2], &args[3]));
    MZ_TRY(mz_layer_at(&net, args[4].n, &layer));
    if (!mz_has_weights(layer.kind)) {
        return MZ_E_OP_KIND;
    }
    if (!mz_within(args[5].n, 0, 31)) {
        return MZ_E_RANGE;
    }
    MZ_TRY(mz_need(&args[6], 16 * (int64_t)layer.out_c, 8));
    mz_pass_plain(&pass, 0);
    mz_view_open(&view, &layer, args[4].n, &pass);
    view.sums = (int64_t *)(void *)args[6].data;
    view.sum_shift = args[5].n;
    if (layer.kind == MZ_DWCONV) {
        mz_dwconv(&view);
    } else if (layer.kind == MZ_CONV) {
        mz_conv(&view);
    } else {
        mz_dense(&view);
    }
    return MZ_OK;
}

int32_t mz_api_stats_finish(const mz_arg_t *args) {
    int32_t n = args[0].n;
    int32_t shift = args[1].n;
    if (n < 1 || !mz_within(shift, 0, 31)) {
        return MZ_E_RANGE;
    }
    MZ_TRY(mz_need(&args[2], 16, 8));
    if (args[2].n % 16) {
        return MZ_E_LENGTH;
    }
    int32_t channels = args[2].n / 16;
    MZ_TRY(mz_need(&args[3], 8 * (int64_t)channels, 4));
    const int64_t *s1 = (const int64_t *)(const void *)args[2].data;
    const int64_t *s2 = s1 + channels;
    int32_t *mean = mz_out(&args[3]);
    // First all checks, then all results.
    for (int32_t c = 0; c < channels; ++c) {
        int32_t unused[2];
        MZ_TRY(mz_stats_finish(n, shift, s1[c], s2[c], &unused[0], &unused[1]));
    }
    for (int32_t c = 0; c < channels; ++c) {
        MZ_TRY(mz_stats_finish(n, shift, s1[c], s2[c], &mean[c], &mean[channels + c]));
    }
    return MZ_OK;
}

int32_t mz_api_realign(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], &args[2], NULL));
    MZ_TRY(mz_layer_at(&net, args[3].n, &layer));
    if (!mz_within(args[5].n, 0, 256)) {
        return MZ_E_RANGE;
    }
    if (layer.stat == NULL) {
        return MZ_E_NO_STATS;
    }
    if (layer.state_bias == NULL || layer.state_mult == NULL) {
        return MZ_E_FROZEN;
    }
    int32_t channels = layer.out_c;
    MZ_TRY(mz_need(&args[4], 8 * (int64_t)channels, 4));
    MZ_TRY(mz_need(&args[6], 12 * (int64_t)channels, 4));
    const int32_t *stats = mz_ints(&args[4]);
    int32_t *out = mz_out(&args[6]);
    for (int32_t c = 0; c < channels; ++c) {
        mz_realigned_t v = mz_realign(&layer, c, stats[c], stats[channels + c], args[5].n);
        out[c] = v.bias;
        out[channels + c] = v.mult;
        out[2 * channels + c] = v.shift;
    }
    return MZ_OK;
}

int32_t mz_api_assign(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    MZ_TRY(mz_net_from(&net, &args[0], NULL, &args[1], NULL));
    MZ_TRY(mz_layer_at(&net, args[2].n, &layer));
    if (layer.state_bias == NULL || layer.state_mult == NULL) {
        return MZ_E_FROZEN;
    }
    int32_t channels = layer.out_c;
    MZ_TRY(mz_need(&args[3], 12 * (int64_t)channels, 4));
    const int32_t *bias = mz_ints(&args[3]);
    const int32_t *mult = bias + channels;
    const int32_t *shift = mult + channels;
    for (int32_t c = 0; c < channels; ++c) {
        if (!mz_within(bias[c], -layer.b_max, layer.b_max) || !mz_mult_ok(mult[c])
            || !mz_shift_ok(shift[c])) {
            return MZ_E_VALUE;
        }
    }
    for (int32_t c = 0; c < channels; ++c) {
        layer.state_bias[c] = bias[c];
    }
    for (int32_t c = 0; c < channels; ++c) {
        layer.state_mult[c] = mult[c];
    }
    for (int32_t c = 0; c < channels; ++c) {
        layer.state_shift[c] = (int8_t)shift[c];
    }
    return MZ_OK;
}

int32_t mz_api_patch_sums(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    int32_t seed = args[2].n;
    int32_t sample = args[3].n;
    int32_t patches = args[4].n;
    MZ_TRY(mz_net_from(&net, &args[0], NULL, NULL, &args[1]));
    MZ_TRY(mz_layer_at(&net, 0, &layer));
    if (layer.kind != MZ_CONV) {
        return MZ_E_OP_KIND;
    }
    if (layer.k_h > layer.in_h || layer.k_w > layer.in_w || layer.k > MZ_PATCH_MOST) {
        return MZ_E_SHAPE;
    }
    if (!mz_seed_ok(seed) || !mz_within(sample, 0, (1 << 28) - 1) || !mz_within(patches, 0, 65535)) {
        return MZ_E_RANGE;
    }
    MZ_TRY(mz_need(&args[5], 4 * (int64_t)layer.k, 4));
    MZ_TRY(mz_need(&args[6], 2 * (int64_t)layer.k * (layer.k + 1), 4));
    mz_patch_sums(&layer, seed, sample, patches, mz_out(&args[5]), mz_out(&args[6]));
    return MZ_OK;
}
