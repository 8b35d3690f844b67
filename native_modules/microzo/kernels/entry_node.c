// Entries of node perturbation.
#include "entry.h"
#include "node.h"

int32_t mz_api_node(const mz_arg_t *args) {
    mz_net_t net;
    mz_layer_t layer;
    mz_node_t node;
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], &args[2], &args[3]));
    MZ_TRY(mz_need(&args[4], 8 * 4, 4));
    MZ_TRY(mz_need(&args[7], 2 * 4, 4));
    const int32_t *params = mz_ints(&args[4]);
    node.op = params[0];
    node.seed = params[1];
    node.label = params[2];
    node.mode = params[3] & ~MZ_NODE_SHARED;
    node.keep = params[3] & MZ_NODE_SHARED ? 0 : UINT32_MAX;
    node.eps = params[4];
    node.scale = params[5];
    node.shift = params[6];
    node.clip = params[7];
    if (!mz_within(node.op, 0, net.n_ops - 2) || !mz_seed_ok(node.seed)
        || !mz_within(node.label, 0, net.classes - 1) || !mz_within(node.mode, 0, MZ_NODE_CREDIT)
        || !mz_within(node.eps, node.mode == MZ_NODE_MOVE ? -127 : 1, 127) || !mz_within(node.scale, 0, 256)
        || !mz_within(node.shift, 0, 31) || !mz_within(node.clip, node.mode == MZ_NODE_CREDIT ? -32767 : 0, 32767)) {
        return MZ_E_VALUE;
    }
    MZ_TRY(mz_layers_check(&net, node.op, net.n_ops));
    MZ_TRY(mz_end_check(&net));
    MZ_TRY(mz_layer_load(&net, node.op, &layer));
    MZ_TRY(mz_need(&args[5], node.mode < MZ_NODE_MOVE ? layer.out_size : 0, 1));
    MZ_TRY(mz_need(&args[6], 4 * (int64_t)layer.out_size, 4));
    return mz_node_probe(&net, &node, (int8_t *)args[5].data, mz_out(&args[6]), mz_out(&args[7]));
}
