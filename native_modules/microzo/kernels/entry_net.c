// Entries that run the network: input, forward, loss, probe.
#include "entry.h"
#include "loss.h"
#include "net.h"

int32_t mz_api_version(const mz_arg_t *args) {
    (void)args;
    return 100 * MZ_MAJOR + MZ_MINOR;
}

int32_t mz_api_input(const mz_arg_t *args) {
    mz_input_t input;
    MZ_TRY(mz_input_open(args, &input));
    for (int32_t i = 0; i < input.count; ++i) {
        input.to[i] = input.map[args[3].data[i]];
    }
    return MZ_OK;
}

int32_t mz_api_forward(const mz_arg_t *args) {
    mz_net_t net;
    mz_pass_t pass;
    int32_t first = args[4].n;
    int32_t last = args[5].n;
    int32_t mode = args[6].n;
    MZ_TRY(mz_net_from(&net, &args[0], &args[1], &args[2], &args[3]));
    if (!mz_within(last, 1, net.n_ops) || !mz_within(first, 0, last - 1) || !mz_within(mode, 0, 1)) {
        return MZ_E_RANGE;
    }
    MZ_TRY(mz_layers_check(&net, first, last));
    if (last == net.n_ops) {
        MZ_TRY(mz_end_check(&net));
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
        || !mz_within(label, 0, net.classes - 1) || !mz_within(pass.mode, 0, 7)
        || !mz_within(pass.what, 0, MZ_WHAT_ALL) || !mz_within(pass.hi, 0, net.n_ops)
        || !mz_within(pass.lo, 0, pass.hi) || !mz_within(pass.eps_shift, 0, 31)) {
        return MZ_E_VALUE;
    }
    if (pass.mode & MZ_MODE_KEEP) {
        MZ_TRY(mz_need(&args[5], (MZ_KEPT + 8) * 4, 4));
    }
    MZ_TRY(mz_layers_check(&net, first, net.n_ops));
    MZ_TRY(mz_end_check(&net));
    return mz_probe(&net, first, &pass, label, mz_out(&args[5]));
}
