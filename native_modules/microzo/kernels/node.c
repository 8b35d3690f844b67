#include "node.h"
#include "gradient.h"
#include "loss.h"
#include "requant.h"

// For every node that is free, with its sign: adds v to a sum, or to the node itself.
static void walk(const mz_layer_t *l, const int8_t *y, mz_stream_t stream, int32_t v, int32_t *sums) {
    uint32_t next = 0;
    for (int32_t i = 0; i < l->out_size;) {
        uint32_t word = 0;
        for (int32_t c = 0; c < l->out_c; ++c, ++i) {
            if ((c & 31) == 0) {
                word = mz_word(stream, next++);
            }
            int32_t was = y[i];
            int32_t by = mz_sign_bit(word, c) ? -v : v;
            bool is_free = was > l->act_min && was < l->act_max;
            if (sums == NULL) {
                l->out[i] = (int8_t)(is_free ? mz_sat(was + by, l->act_min, l->act_max) : was);
            } else if (is_free) {
                mz_accumulate(&sums[i], by);
            }
        }
    }
}

int32_t mz_node_probe(const mz_net_t *net, const mz_node_t *node, int8_t *y, int32_t *sums,
    int32_t *out) {
    mz_layer_t l;
    mz_pass_t pass;
    int32_t loss[2];
    MZ_TRY(mz_layer_load(net, node->op, &l));
    mz_stream_t stream = mz_stream(node->seed, 4 * (uint32_t)l.tid + 2);
    for (int32_t i = 0; i < l.out_size; ++i) {
        y[i] = l.out[i];
    }
    mz_pass_plain(&pass, node->mode);
    for (int32_t i = 0; i < 2; ++i) {
        walk(&l, y, stream, i == 0 ? node->eps : -node->eps, NULL);
        MZ_TRY(mz_run(net, node->op + 1, net->n_ops, &pass));
        MZ_TRY(mz_finish(net));
        loss[i] = mz_loss(net->logits, net->classes, node->label, NULL);
    }
    for (int32_t i = 0; i < l.out_size; ++i) {
        l.out[i] = y[i];
    }
    int32_t d = ((loss[0] - loss[1]) * node->scale) >> node->shift;
    walk(&l, y, stream, mz_sat(d, -node->clip, node->clip), sums);
    out[0] = loss[0];
    out[1] = loss[1];
    return MZ_OK;
}

void mz_node_gradient(const mz_layer_t *l, int32_t shift, int32_t *sums, int32_t *grad) {
    int32_t positions = l->out_h * l->out_w;
    int32_t limit = (int32_t)(((uint32_t)1 << 30) / (255 * (uint32_t)positions));
    int32_t *row = (int32_t *)l->scratch;
    for (int32_t c = 0; c < l->out_c; ++c) {
        int32_t bias_sum = 0;
        for (int32_t k = 0; k < l->k; ++k) {
            row[k] = 0;
        }
        for (int32_t p = 0; p < positions; ++p) {
            int32_t *sum = &sums[p * l->out_c + c];
            int32_t h = mz_clip(mz_rsh(*sum, shift), -limit, limit);
            *sum = 0;
            if (h == 0) {
                continue;
            }
            bias_sum += h;
            mz_scatter(l, c, p / l->out_w, p % l->out_w, h, row);
        }
        mz_gradient_add(l, c, row, bias_sum, grad);
    }
}
