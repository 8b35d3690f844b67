// Entries of gradients: in closed form, from sums over nodes, and the steps along them.
#include "entry.h"
#include "gradient.h"

static int32_t need_gradient(const mz_arg_t *arg, const mz_layer_t *layer) {
    return mz_need(arg, 4 * ((int64_t)layer->out_c * layer->k + layer->out_c), 4);
}

static bool shift_ok(int32_t shift) {
    return mz_within(shift, 0, 31);
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

int32_t mz_api_node_grad(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    MZ_TRY(mz_net_from(&net, &args[0], NULL, NULL, &args[1]));
    MZ_TRY(mz_layer_at(&net, args[2].n, &layer));
    if (!mz_has_weights(layer.kind)) {
        return MZ_E_OP_KIND;
    }
    if (!shift_ok(args[3].n)) {
        return MZ_E_RANGE;
    }
    MZ_TRY(mz_need(&args[4], 4 * (int64_t)layer.out_size, 4));
    MZ_TRY(need_gradient(&args[5], &layer));
    mz_node_gradient(&layer, args[3].n, mz_out(&args[4]), mz_out(&args[5]));
    return MZ_OK;
}
