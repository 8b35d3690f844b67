#include "node.h"
#include "gradient.h"
#include "loss.h"
#include "requant.h"
#include "window.h"

static bool is_free(const mz_layer_t *l, int32_t y) {
    return y > l->act_min && y < l->act_max;
}

// Calls for every node: its index, and whether its sign is -1.
#define EACH_NODE(l, stream, i, negative, body) \
    for (int32_t p = 0, i = 0; p < (l)->out_h * (l)->out_w; ++p) { \
        uint32_t first = (uint32_t)p * mz_row_words((l)->out_c); \
        uint32_t word = 0; \
        for (int32_t c = 0; c < (l)->out_c; ++c, ++i) { \
            if ((c & 31) == 0) { \
                word = mz_word(stream, first + ((uint32_t)c >> 5)); \
            } \
            bool negative = mz_sign_bit(word, c); \
            body \
        } \
    }

static void perturb(const mz_layer_t *l, const int8_t *y, mz_stream_t stream, int32_t eps) {
    EACH_NODE(l, stream, i, negative, {
        int32_t v = y[i];
        if (is_free(l, v)) {
            v = mz_sat(v + (negative ? -eps : eps), l->act_min, l->act_max);
        }
        l->out[i] = (int8_t)v;
    })
}

static void credit(const mz_layer_t *l, const int8_t *y, mz_stream_t stream, int32_t d, int32_t *sums) {
    EACH_NODE(l, stream, i, negative, {
        if (is_free(l, y[i])) {
            mz_accumulate(&sums[i], negative ? -d : d);
        }
    })
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
        perturb(&l, y, stream, i == 0 ? node->eps : -node->eps);
        MZ_TRY(mz_run(net, node->op + 1, net->n_ops, &pass));
        MZ_TRY(mz_finish(net));
        loss[i] = mz_loss(net->logits, net->classes, node->label, NULL);
    }
    for (int32_t i = 0; i < l.out_size; ++i) {
        l.out[i] = y[i];
    }
    int32_t d = ((loss[0] - loss[1]) * node->scale) >> node->shift;
    credit(&l, y, stream, mz_sat(d, -node->clip, node->clip), sums);
    out[0] = loss[0];
    out[1] = loss[1];
    return MZ_OK;
}

// Adds h * (x - zp) of one output position of a depthwise channel.
static void scatter_channel(const mz_layer_t *l, int32_t source, int32_t oy, int32_t ox, int32_t h,
    int32_t *sums) {
    mz_window_t wy = mz_window(oy, l->s_h, l->p_t, l->k_h, l->in_h);
    mz_window_t wx = mz_window(ox, l->s_w, l->p_l, l->k_w, l->in_w);
    for (int32_t ky = wy.lo; ky < wy.hi; ++ky) {
        for (int32_t kx = wx.lo; kx < wx.hi; ++kx) {
            int32_t at = (wy.at + ky - wy.lo) * l->in_w + wx.at + kx - wx.lo;
            sums[ky * l->k_w + kx] += h * (l->in[at * l->in_c + source] - l->in_zp);
        }
    }
}

void mz_node_gradient(const mz_layer_t *l, int32_t shift, int32_t *sums, int32_t *grad) {
    int32_t positions = l->out_h * l->out_w;
    int32_t limit = (int32_t)(((uint32_t)1 << 30) / (255 * (uint32_t)positions));
    int32_t *row = (int32_t *)l->scratch;
    int32_t *bias = grad + l->out_c * l->k;
    for (int32_t c = 0; c < l->out_c; ++c) {
        int32_t bias_sum = 0;
        for (int32_t k = 0; k < l->k; ++k) {
            row[k] = 0;
        }
        for (int32_t p = 0; p < positions; ++p) {
            int32_t *sum = &sums[p * l->out_c + c];
            int32_t h = (int32_t)mz_sat64(mz_rsh(*sum, shift), -limit, limit);
            *sum = 0;
            if (h == 0) {
                continue;
            }
            bias_sum += h;
            if (l->kind == MZ_DWCONV) {
                scatter_channel(l, c / l->multiplier, p / l->out_w, p % l->out_w, h, row);
            } else {
                mz_scatter(l, p / l->out_w, p % l->out_w, h, row);
            }
        }
        for (int32_t k = 0; k < l->k; ++k) {
            mz_accumulate(grad++, row[k]);
        }
        mz_accumulate(bias++, (int64_t)bias_sum * 64);
    }
}
