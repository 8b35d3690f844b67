#include "net.h"
#include "loss.h"
#include "ops.h"
#include "output.h"

int32_t mz_run(const mz_net_t *net, int32_t first, int32_t last, const mz_pass_t *pass) {
    mz_layer_t layer;
    mz_view_t view;
    for (int32_t i = first; i < last; ++i) {
        MZ_TRY(mz_layer_load(net, i, &layer));
        mz_view_open(&view, &layer, i, pass);
        switch (layer.kind) {
            case MZ_CONV:
                mz_conv(&view);
                break;
            case MZ_DWCONV:
                mz_dwconv(&view);
                break;
            case MZ_DENSE:
                mz_dense(&view);
                break;
            case MZ_AVGPOOL:
                mz_avgpool(&layer);
                break;
            case MZ_MAXPOOL:
                mz_maxpool(&layer);
                break;
            case MZ_ADD:
                mz_add(&layer);
                break;
            case MZ_PAD:
                mz_pad(&layer);
                break;
            case MZ_MEAN:
                mz_mean(&layer);
                break;
            case MZ_MUL:
                mz_mul(&layer);
                break;
            case MZ_CONCAT:
                mz_concat(&layer);
                break;
            default:
                mz_lut(&layer);
                break;
        }
    }
    return MZ_OK;
}

// The last operator, and the scale of its output unless it emits the logits itself.
static int32_t load_end(const mz_net_t *net, mz_layer_t *layer, int32_t *mult, int32_t *shift) {
    MZ_TRY(mz_layer_load(net, net->n_ops - 1, layer));
    *mult = net->plan[MZ_H_LOGIT_MULT];
    *shift = net->plan[MZ_H_LOGIT_SHIFT];
    if (layer->out_size != net->classes) {
        return MZ_E_LOGITS;
    }
    if (layer->logits == NULL && (!mz_mult_ok(*mult) || !mz_shift_ok(*shift))) {
        return MZ_E_QUANT;
    }
    return MZ_OK;
}

int32_t mz_end_check(const mz_net_t *net) {
    mz_layer_t layer;
    int32_t mult;
    int32_t shift;
    return load_end(net, &layer, &mult, &shift);
}

int32_t mz_finish(const mz_net_t *net) {
    mz_layer_t layer;
    int32_t mult;
    int32_t shift;
    MZ_TRY(load_end(net, &layer, &mult, &shift));
    for (int32_t i = 0; layer.logits == NULL && i < net->classes; ++i) {
        net->logits[i] = mz_logit(layer.out[i] - layer.out_zp, mult, shift);
    }
    return MZ_OK;
}

int32_t mz_class(const mz_net_t *net) {
    int32_t best = 0;
    for (int32_t i = 1; i < net->classes; ++i) {
        if (net->logits[i] > net->logits[best]) {
            best = i;
        }
    }
    return best;
}

// The outputs of the first layer for the pass with sign -1, while that with +1 runs.
#define PAIR_LOGITS 64

typedef struct {
    mz_layer_t plus, minus;
    int8_t out[MZ_KEPT];
    int32_t logits[PAIR_LOGITS];
} pair_t;

static void copy_pair(const pair_t *pair) {
    for (int32_t i = 0; i < pair->plus.out_c; ++i) {
        pair->plus.out[i] = pair->out[i];
        if (pair->plus.logits != NULL) {
            pair->plus.logits[i] = pair->logits[i];
        }
    }
}

// Runs operator `first` for both passes, which read the same input if nothing writes over
// it, or for the only one. 1 if that was done, 0 if each pass must run it.
static int32_t run_first(const mz_net_t *net, int32_t first, mz_pass_t *pass, bool both, int32_t *kept,
    pair_t *pair) {
    mz_view_t views[2];
    MZ_TRY(mz_layer_load(net, first, &pair->plus));
    int32_t most = both && pair->plus.logits != NULL ? PAIR_LOGITS : MZ_KEPT;
    if (pair->plus.kind != MZ_DENSE || pair->plus.out_c > most) {
        return 0;
    }
    for (int32_t i = first + 1; both && i < net->n_ops; ++i) {
        MZ_TRY(mz_layer_load(net, i, &pair->minus));
        if (mz_bytes_overlap(pair->plus.in, (uint32_t)pair->plus.in_size, pair->minus.out,
            (uint32_t)pair->minus.out_size)) {
            return 0;
        }
    }
    MZ_TRY(mz_layer_load(net, first, &pair->minus));
    pair->minus.out = pair->out;
    pair->minus.logits = pair->plus.logits != NULL ? pair->logits : NULL;
    pass->sign = -1;
    mz_view_open(&views[1], &pair->minus, first, pass);
    pass->sign = 1;
    mz_view_open(&views[0], &pair->plus, first, pass);
    return mz_dense_first(&views[0], both ? &views[1] : NULL, kept);
}

int32_t mz_probe(const mz_net_t *net, int32_t first, mz_pass_t *pass, int32_t label, int32_t *out) {
    int32_t *kept = pass->mode & MZ_MODE_KEEP ? out + 2 : NULL;
    int32_t loss[2] = {0, 0};
    int32_t passes = pass->mode & MZ_MODE_ONE_SIDED ? 1 : 2;
    int32_t done = 0;
    pair_t pair;
    for (int32_t i = 0; i < passes; ++i) {
        pass->sign = i == 0 ? 1 : -1;
        if (i == 0) {
            done = run_first(net, first, pass, passes == 2, kept, &pair);
            MZ_TRY(done);
        } else if (done) {
            copy_pair(&pair);
        }
        MZ_TRY(mz_run(net, first + done, net->n_ops, pass));
        MZ_TRY(mz_finish(net));
        loss[i] = mz_loss(net->logits, net->classes, label, NULL);
    }
    out[0] = loss[0];
    out[1] = loss[1];
    return MZ_OK;
}
