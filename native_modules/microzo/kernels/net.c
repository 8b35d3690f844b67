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

// Dense operators that both passes of a probe have run: the output of the last one is in the
// arena for the pass with sign +1, here for the other one.
#define PAIR_LOGITS 64

typedef struct {
    int32_t done;
    int8_t *out, *minus;
    int32_t *logits; // NULL if the last one makes none
    int32_t size;
    int8_t outputs[2][MZ_KEPT]; // by turns
    int32_t minus_logits[PAIR_LOGITS];
} pair_t;

static void copy_output(const pair_t *pair) {
    for (int32_t i = 0; i < pair->size; ++i) {
        pair->out[i] = pair->minus[i];
        if (pair->logits != NULL) {
            pair->logits[i] = pair->minus_logits[i];
        }
    }
}

// How many dense operators from `first` on both passes may run together: none if an operator writes
// over the input, with which either pass begins; but one if an operator reads anything but the
// output of the one before it: what lies between is that of the pass with sign -1 by then.
static int32_t most_together(const mz_net_t *net, int32_t first) {
    mz_layer_t layer;
    if (first == net->n_ops - 1) {
        return 1;
    }
    MZ_TRY(mz_layer_load(net, first, &layer));
    if (layer.kind != MZ_DENSE) {
        return 0;
    }
    const int8_t *in = layer.in;
    uint32_t in_size = (uint32_t)layer.in_size;
    int32_t most = MZ_DSP ? net->n_ops : 1; // others have no kernel for two inputs
    for (int32_t i = first + 1; i < net->n_ops; ++i) {
        const int8_t *before = layer.out;
        int32_t size = layer.out_size;
        MZ_TRY(mz_layer_load(net, i, &layer));
        if (mz_bytes_overlap(in, in_size, layer.out, (uint32_t)layer.out_size)) {
            return 0;
        }
        if (layer.in != before || layer.in_size != size || layer.in2 != NULL) {
            most = 1;
        }
    }
    return most;
}

// Runs operator `op` for both passes, or for the only one. 1 if that was done, 0 if each pass must
// run it.
static int32_t run_both(const mz_net_t *net, int32_t op, mz_pass_t *pass, int32_t *kept, pair_t *pair) {
    mz_layer_t layers[2];
    mz_view_t views[2];
    bool both = !(pass->mode & MZ_MODE_ONE_SIDED);
    MZ_TRY(mz_layer_load(net, op, &layers[0]));
    MZ_TRY(mz_layer_load(net, op, &layers[1]));
    int32_t most = both && layers[0].logits != NULL ? PAIR_LOGITS : MZ_KEPT;
    if (layers[0].kind != MZ_DENSE || layers[0].out_c > most) {
        return 0;
    }
    layers[1].out = pair->outputs[pair->done & 1];
    layers[1].logits = layers[0].logits != NULL ? pair->minus_logits : NULL;
    if (pair->done > 0) {
        layers[1].in = pair->minus;
        layers[0].scratch_len /= 2;
        layers[1].scratch_len = layers[0].scratch_len;
        layers[1].scratch += layers[0].scratch_len;
    }
    for (int32_t i = 0; i < 2; ++i) {
        pass->sign = 1 - 2 * i;
        mz_view_open(&views[i], &layers[i], op, pass);
    }
    if (!mz_dense_passes(&views[0], both ? &views[1] : NULL, kept)) {
        return 0;
    }
    if (pair->done > 0) {
        copy_output(pair);
    }
    ++pair->done;
    pair->out = layers[0].out;
    pair->minus = layers[1].out;
    pair->logits = layers[0].logits;
    pair->size = layers[0].out_c;
    return 1;
}

// Runs what both passes, or the only one, can run together from `first` on.
static int32_t run_together(const mz_net_t *net, int32_t first, mz_pass_t *pass, int32_t *kept, pair_t *pair) {
    int32_t most = pass->mode & MZ_MODE_ONE_SIDED ? 1 : most_together(net, first);
    MZ_TRY(most);
    pair->done = 0;
    pair->logits = NULL;
    while (pair->done < most && first + pair->done < net->n_ops && pair->logits == NULL) {
        int32_t ran = run_both(net, first + pair->done, pass, kept, pair);
        MZ_TRY(ran);
        if (ran == 0) {
            break;
        }
        kept = NULL;
    }
    return MZ_OK;
}

int32_t mz_probe(const mz_net_t *net, int32_t first, mz_pass_t *pass, int32_t label, int32_t *out) {
    int32_t loss[2] = {0, 0};
    int32_t passes = pass->mode & MZ_MODE_ONE_SIDED ? 1 : 2;
    pair_t pair;
    MZ_TRY(run_together(net, first, pass, pass->mode & MZ_MODE_KEEP ? out + 2 : NULL, &pair));
    for (int32_t i = 0; i < passes; ++i) {
        pass->sign = 1 - 2 * i;
        if (i > 0 && pair.done > 0) {
            copy_output(&pair);
        }
        MZ_TRY(mz_run(net, first + pair.done, net->n_ops, pass));
        MZ_TRY(mz_finish(net));
        loss[i] = mz_loss(net->logits, net->classes, label, NULL);
    }
    out[0] = loss[0];
    out[1] = loss[1];
    return MZ_OK;
}
