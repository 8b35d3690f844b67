// Entries that change or export trainable values: zeroth-order and closed-form updates.
#include "entry.h"
#include "gradient.h"
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

static int32_t need_gradient(const mz_arg_t *arg, const mz_layer_t *layer) {
    return mz_need(arg, 4 * ((int64_t)layer->out_c * layer->k + layer->out_c), 4);
}

static int32_t load_head(const mz_net_t *net, int32_t index, mz_layer_t *head) {
    MZ_TRY(mz_layer_at(net, index, head));
    return head->kind == MZ_DENSE ? MZ_OK : MZ_E_OP_KIND;
}

int32_t mz_api_head_grad(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t head;
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], &args[2], &args[3]));
    MZ_TRY(load_head(&net, args[4].n, &head));
    MZ_TRY(mz_need(&args[5], 4 * (int64_t)head.out_c, 4));
    MZ_TRY(need_gradient(&args[6], &head));
    mz_head_gradient(&head, mz_ints(&args[5]), mz_out(&args[6]));
    return MZ_OK;
}

static bool same_shape(const mz_layer_t *l, int32_t h, int32_t w, int32_t c) {
    return l->out_h == h && l->out_w == w && l->out_c == c;
}

static bool average(const mz_layer_t *l) {
    return (l->kind == MZ_AVGPOOL || l->kind == MZ_MEAN) && !l->p_t && !l->p_b && !l->p_l && !l->p_r
        && (l->s_h == l->k_h || l->out_h == 1) && (l->s_w == l->k_w || l->out_w == 1);
}

// Between convolution and head may be an ADD, then an average.
int32_t mz_api_tail_grad(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t conv;
    mz_layer_t add;
    mz_layer_t pool;
    mz_layer_t head;
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], &args[2], &args[3]));
    MZ_TRY(mz_layer_at(&net, args[4].n, &conv));
    MZ_TRY(load_head(&net, args[5].n, &head));
    int32_t at = args[5].n - 1;
    int32_t source = head.in_id;
    bool pooled = false;
    bool added = false;
    if (at > args[4].n) {
        MZ_TRY(mz_layer_at(&net, at, &pool));
        pooled = average(&pool) && pool.out_id == source;
    }
    if (pooled) {
        source = pool.in_id;
        --at;
    }
    if (at > args[4].n) {
        MZ_TRY(mz_layer_at(&net, at, &add));
        added = add.kind == MZ_ADD && !(add.flags & (MZ_FLAG_SPREAD_HW | MZ_FLAG_SPREAD_C)) && add.out_id == source
            && (add.in_id == conv.out_id || add.in2_id == conv.out_id);
    }
    if (conv.kind != MZ_CONV || (!added && (at != args[4].n || source != conv.out_id))) {
        return MZ_E_OP_KIND;
    }
    if ((added && !same_shape(&conv, add.out_h, add.out_w, add.out_c))
        || (pooled && !same_shape(&conv, pool.in_h, pool.in_w, pool.in_c))
        || (pooled ? pool.out_size : conv.out_size) != head.k) {
        return MZ_E_SHAPE;
    }
    MZ_TRY(mz_need(&args[6], 4 * (int64_t)head.out_c, 4));
    MZ_TRY(need_gradient(&args[7], &conv));
    mz_tail_gradient(&conv, added ? &add : &conv, pooled ? &pool : NULL, &head, mz_ints(&args[6]), mz_out(&args[7]));
    return MZ_OK;
}

int32_t mz_api_apply_grad(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    MZ_TRY(mz_net_from(&net, &args[0], NULL, &args[1], NULL));
    MZ_TRY(mz_layer_at(&net, args[2].n, &layer));
    if (layer.master == NULL && layer.state_bias == NULL) {
        return MZ_E_FROZEN;
    }
    if (!shift_ok(args[3].n) || !mz_within(args[4].n, 0, 31)) {
        return MZ_E_RANGE;
    }
    MZ_TRY(need_gradient(&args[5], &layer));
    mz_gradient_apply(&layer, args[3].n, args[4].n, mz_out(&args[5]));
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
