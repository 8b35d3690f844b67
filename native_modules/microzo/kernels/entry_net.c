// Entries that run the network: input, forward, loss, probe.
#include "entry.h"
#include "loss.h"
#include "net.h"

int32_t mz_api_version(const mz_arg_t *args) {
    (void)args;
    return 100 * MZ_MAJOR + MZ_MINOR;
}

// The operator that reads the input tensor; which of its inputs is it?
static int32_t find_input(const mz_net_t *net, mz_layer_t *layer, const int8_t **at) {
    int32_t tensor = net->plan[MZ_H_IN_TENSOR];
    for (int32_t i = 0; i < net->n_ops; ++i) {
        MZ_TRY(mz_layer_load(net, i, layer));
        if (layer->in_id == tensor) {
            *at = layer->in;
            return MZ_OK;
        }
        if (layer->kind == MZ_ADD && layer->in2_id == tensor) {
            *at = layer->in2;
            return MZ_OK;
        }
    }
    return MZ_E_SHAPE;
}

int32_t mz_api_input(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    const int8_t *at;
    MZ_TRY(mz_net_from(&net, &args[0], NULL, NULL, &args[2]));
    MZ_TRY(find_input(&net, &layer, &at));
    MZ_TRY(mz_need(&args[3], layer.in_size, 1));
    int32_t table = net.plan[MZ_H_TABLE_OFF];
    if (args[3].n != layer.in_size) {
        return MZ_E_LENGTH;
    }
    if (args[1].n < 256 || !mz_within(table, 0, args[1].n - 256)) {
        return MZ_E_OFFSET;
    }
    int8_t *to = (int8_t *)args[2].data + (at - (const int8_t *)args[2].data);
    const uint8_t *sample = args[3].data;
    const int8_t *map = (const int8_t *)args[1].data + table;
    for (int32_t i = 0; i < layer.in_size; ++i) {
        to[i] = map[sample[i]];
    }
    return MZ_OK;
}

// Whether the last operator fits the logits, needed by every pass that reaches it.
static int32_t check_end(const mz_net_t *net) {
    mz_layer_t layer;
    MZ_TRY(mz_layer_load(net, net->n_ops - 1, &layer));
    return net->emits || layer.out_size == net->classes ? MZ_OK : MZ_E_LOGITS;
}

int32_t mz_api_forward(const mz_arg_t *args) {
    mz_net_t net;
    mz_pass_t pass;
    int32_t first = args[4].n;
    int32_t last = args[5].n;
    int32_t mode = args[6].n;
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], &args[2], &args[3]));
    if (!mz_within(last, 0, net.n_ops) || !mz_within(first, 0, last) || !mz_within(mode, 0, 1)) {
        return MZ_E_RANGE;
    }
    MZ_TRY(mz_layers_check(&net, first, last));
    if (last == net.n_ops) {
        MZ_TRY(check_end(&net));
    }
    mz_pass_plain(&pass, mode);
    MZ_TRY(mz_run(&net, first, last, &pass));
    if (last < net.n_ops) {
        return MZ_OK;
    }
    MZ_TRY(mz_finish(&net));
    return mz_class(&net);
}

int32_t mz_api_loss(const mz_arg_t *args) {
    mz_net_t net;
    MZ_TRY(mz_net_from(&net, &args[0], NULL, NULL, &args[1]));
    if (!mz_within(args[2].n, 0, net.classes - 1)) {
        return MZ_E_RANGE;
    }
    bool wanted = args[3].n > 0;
    MZ_TRY(mz_need(&args[3], wanted ? 4 * net.classes : 0, 4));
    return mz_loss(net.logits, net.classes, args[2].n, wanted ? mz_out(&args[3]) : NULL);
}

int32_t mz_api_probe(const mz_arg_t *args) {
    mz_net_t net;
    mz_pass_t pass;
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], &args[2], &args[3]));
    MZ_TRY(mz_need(&args[4], 8 * 4, 4));
    MZ_TRY(mz_need(&args[5], 2 * 4, 4));
    const int32_t *params = mz_ints(&args[4]);
    int32_t first = params[0];
    int32_t label = params[2];
    pass.seed = params[1];
    pass.mode = params[3];
    pass.what = params[4];
    pass.lo = params[5];
    pass.hi = params[6];
    pass.eps_shift = params[7];
    if (!mz_within(first, 0, net.n_ops - 1) || !mz_seed_ok(pass.seed)
        || !mz_within(label, 0, net.classes - 1) || !mz_within(pass.mode, 0, 3)
        || !mz_within(pass.what, 0, 3) || !mz_within(pass.hi, 0, net.n_ops)
        || !mz_within(pass.lo, 0, pass.hi) || !mz_within(pass.eps_shift, 0, 15)) {
        return MZ_E_VALUE;
    }
    MZ_TRY(mz_layers_check(&net, first, net.n_ops));
    MZ_TRY(check_end(&net));
    return mz_probe(&net, first, &pass, label, mz_out(&args[5]));
}
