#include "entry.h"

int32_t mz_need(const mz_arg_t *arg, int64_t bytes, int32_t width) {
    if (arg->width != 1 && arg->width != width) {
        return MZ_E_TYPE;
    }
    if (arg->n < bytes) {
        return MZ_E_LENGTH;
    }
    if (arg->n > 0 && ((uintptr_t)arg->data & (uintptr_t)(width - 1))) {
        return MZ_E_ALIGN;
    }
    return MZ_OK;
}

static int32_t open_span(mz_span_t *span, const mz_arg_t *arg) {
    if (arg->n > 0 && ((uintptr_t)arg->data & 3)) {
        return MZ_E_ALIGN;
    }
    span->data = arg->data;
    span->len = arg->n;
    return MZ_OK;
}

int32_t mz_net_from(mz_net_t *net, const mz_arg_t *plan, const mz_arg_t *blob,
    const mz_arg_t *state, const mz_arg_t *arena) {
    MZ_TRY(mz_need(plan, 0, 4));
    net->plan = mz_ints(plan);
    net->use = 0;
    if (blob != NULL) {
        MZ_TRY(open_span(&net->blob, blob));
        net->use |= MZ_USE_BLOB;
    }
    if (state != NULL) {
        MZ_TRY(open_span(&net->state, state));
        net->use |= MZ_USE_STATE;
    }
    if (arena != NULL) {
        MZ_TRY(open_span(&net->arena, arena));
        net->use |= MZ_USE_ARENA;
    }
    return mz_net_open(net, plan->n);
}

int32_t mz_layer_at(const mz_net_t *net, int32_t index, mz_layer_t *layer) {
    if (!mz_within(index, 0, net->n_ops - 1)) {
        return MZ_E_RANGE;
    }
    return mz_layer_load(net, index, layer);
}

int32_t mz_invoke(const char *signature, mz_entry_t entry, const mz_arg_t *args) {
    for (int32_t i = 0; signature[i]; ++i) {
        for (int32_t j = 0; signature[i] == 'w' && signature[j]; ++j) {
            if (j != i && signature[j] != 'i'
                && mz_bytes_overlap(args[i].data, (uint32_t)args[i].n, args[j].data,
                    (uint32_t)args[j].n)) {
                return MZ_E_OVERLAP;
            }
        }
    }
    return entry(args);
}
