// Runs the networks of an image and prints instruction counts.
#include "gradient.h"
#include "image.h"
#include "loss.h"
#include "node.h"
#include "ops.h"
#include "output.h"
#include "update.h"

static uint8_t state[256 * 1024] __attribute__((aligned(8)));
static uint32_t random_state = 1;

static uint32_t next_random(void) {
    random_state = random_state * 1664525 + 1013904223;
    return random_state >> 8;
}

static void run_op(const mz_view_t *view) {
    switch (view->layer->kind) {
        case MZ_CONV:
            mz_conv(view);
            break;
        case MZ_DWCONV:
            mz_dwconv(view);
            break;
        case MZ_DENSE:
            mz_dense(view);
            break;
        case MZ_AVGPOOL:
            mz_avgpool(view->layer);
            break;
        case MZ_MAXPOOL:
            mz_maxpool(view->layer);
            break;
        default:
            mz_add(view->layer);
            break;
    }
}

static void measure_view(const char *name, int32_t op, const char *total, const char *pack,
    const mz_view_t *view) {
    uint32_t ticks;
    COUNT(ticks, run_op(view));
    print(name, op, total, ticks);
    if (!mz_has_weights(view->layer->kind) || view->layer->kind == MZ_DENSE) {
        return;
    }
    // The same layer without output positions: what is left is the packing.
    mz_layer_t layer = *view->layer;
    mz_view_t empty = *view;
    layer.out_h = 0;
    layer.out_w = 0;
    empty.layer = &layer;
    COUNT(ticks, run_op(&empty));
    print(name, op, pack, ticks);
}

static void measure_first(const char *name, int32_t op, const char *source, const char *measure,
    const mz_view_t *view, const mz_view_t *other, int32_t *kept) {
    char full[32];
    uint32_t ticks;
    bool done;
    strcpy(full, source);
    strcat(full, measure);
    COUNT(ticks, done = mz_dense_passes(view, other, kept));
    if (done) {
        print(name, op, full, ticks);
    }
}

// Both passes of an antithetic pair, each on an input of its own; the same unperturbed.
static void measure_two(const char *name, int32_t op, const char *source, const mz_view_t *view) {
    static const int8_t input[1024] = {1, 2, 3};
    mz_layer_t layers[2] = {*view->layer, *view->layer};
    mz_view_t views[2] = {*view, *view};
    for (int32_t i = 0; i < 2; ++i) {
        layers[i].scratch_len /= 2;
        views[i].layer = &layers[i];
    }
    layers[1].in = input;
    layers[1].scratch += layers[1].scratch_len;
    views[1].eps = -view->eps;
    measure_first(name, op, source, "-two-eps1", &views[0], &views[1], NULL);
    views[0].eps = 0;
    views[1].eps = 0;
    measure_first(name, op, source, "-two", &views[0], &views[1], NULL);
}

// Both passes of an antithetic pair on the same input; the next pair and pass of that input.
static void measure_pair(const char *name, int32_t op, const char *source, const mz_view_t *view) {
    int32_t kept[MZ_KEPT + 5] = {0};
    mz_view_t other = *view;
    other.eps = -view->eps;
    if (view->layer->kind == MZ_DENSE) {
        measure_first(name, op, source, "-pair", view, &other, NULL);
        mz_dense_passes(view, &other, kept);
        measure_first(name, op, source, "-further-pair", view, &other, kept);
        measure_first(name, op, source, "-further-pass", view, NULL, kept);
        measure_two(name, op, source, view);
    }
}

static void measure_op(const mz_net_t *net, const char *name, int32_t op) {
    mz_layer_t layer;
    mz_view_t view;
    mz_pass_t pass;
    uint32_t ticks;
    mz_pass_plain(&pass, 0);
    pass.hi = 1000;
    pass.seed = 12345;
    pass.what = 1;
    mz_layer_load(net, op, &layer);
    int16_t *master = layer.master;
    mz_view_open(&view, &layer, op, &pass);
    if (!mz_has_weights(layer.kind)) {
        measure_view(name, op, "total", NULL, &view);
        return;
    }
    layer.master = NULL;
    mz_view_open(&view, &layer, op, &pass);
    measure_view(name, op, "int8", "int8-pack", &view);
    view.eps = 1;
    view.weight_stream = mz_stream(77, 4 * (uint32_t)op);
    measure_view(name, op, "int8-eps1", "int8-eps1-pack", &view);
    measure_pair(name, op, "int8", &view);
    view.eps = 3;
    measure_view(name, op, "int8-eps3", "int8-eps3-pack", &view);
    layer.master = master;
    mz_view_open(&view, &layer, op, &pass);
    measure_view(name, op, "master", "master-pack", &view);
    pass.sign = 1;
    mz_view_open(&view, &layer, op, &pass);
    measure_view(name, op, "master-eps1", "master-eps1-pack", &view);
    measure_pair(name, op, "master", &view);
    pass.sign = 0;
    pass.mode = 1;
    mz_view_open(&view, &layer, op, &pass);
    measure_view(name, op, "wide", "wide-pack", &view);
    pass.sign = 1;
    mz_view_open(&view, &layer, op, &pass);
    measure_view(name, op, "wide-eps1", "wide-eps1-pack", &view);
    measure_pair(name, op, "wide", &view);
    static const char *const names[] = {"update1", "update2", "update4", "update8", "update16"};
    int32_t pairs[32];
    for (int32_t j = 0; j < 16; ++j) {
        pairs[2 * j] = 1000 + j;
        pairs[2 * j + 1] = j % 2 ? 300 + j : -200 - j;
    }
    for (int32_t i = 0, n = 1; i < 5; ++i, n *= 2) {
        COUNT(ticks, mz_update(&layer, 1, pairs, n, 8));
        print(name, op, names[i], ticks);
    }
    mz_init_state(&layer);
}

// Training of the last convolution alone, whose input is cached: by its weights, by its nodes.
static void measure_late(const mz_net_t *net, const char *name) {
    static int8_t y[64 * 64];
    static int32_t sums[64 * 64];
    static int32_t grad[64 * 65];
    uint32_t ticks;
    mz_layer_t layer;
    mz_pass_t pass;
    int32_t out[2];
    int32_t op = net->n_ops - 1;
    do {
        mz_layer_load(net, --op, &layer);
    } while (layer.kind != MZ_CONV);
    mz_pass_plain(&pass, 0);
    pass.lo = op;
    pass.hi = op + 1;
    pass.seed = 4711;
    pass.what = 1;
    COUNT(ticks, mz_probe(net, op, &pass, 3, out));
    print(name, 99, "late-probe", ticks);
    mz_node_t node = {.op = op, .seed = 4711, .label = 3, .keep = UINT32_MAX, .eps = 8, .scale = 256, .shift = 9,
        .clip = 512};
    COUNT(ticks, mz_node_probe(net, &node, y, sums, out));
    print(name, 99, "late-node", ticks);
    COUNT(ticks, mz_node_gradient(&layer, 1, sums, grad));
    print(name, 99, "late-node-grad", ticks);
}

static void measure_net(const mz_net_t *net, const char *name) {
    uint32_t ticks;
    uint32_t update_ticks;
    mz_layer_t layer;
    mz_pass_t pass;
    int32_t out[2];
    int32_t pairs[2] = {4711, -700};
    mz_pass_plain(&pass, 0);
    COUNT(ticks, mz_run(net, 0, net->n_ops, &pass));
    print(name, 99, "forward", ticks);
    COUNT(ticks, mz_loss(net->logits, net->classes, 3, NULL));
    print(name, 99, "loss", ticks);
    COUNT(ticks, mz_layers_check(net, 0, net->n_ops));
    print(name, 99, "check", ticks);
    for (int32_t mode = 0; mode < 2; ++mode) {
        mz_pass_plain(&pass, mode);
        pass.hi = net->n_ops;
        pass.seed = 4711;
        pass.what = 3;
        COUNT(ticks, mz_probe(net, 0, &pass, 3, out));
        print(name, 99, mode ? "probe-wide" : "probe", ticks);
        print(name, 99, mode ? "value-loss-plus-wide" : "value-loss-plus", (uint32_t)out[0]);
        print(name, 99, mode ? "value-loss-minus-wide" : "value-loss-minus", (uint32_t)out[1]);
    }
    measure_late(net, name);
    uint32_t sum = 0;
    for (int32_t i = 0; i < net->n_ops; ++i) {
        mz_layer_load(net, i, &layer);
        COUNT(update_ticks, mz_update(&layer, 3, pairs, 1, 8));
        sum += update_ticks;
    }
    print(name, 99, "update", sum);
}

int main(void) {
    uint32_t nets = open_image();
    for (uint32_t i = 0; i < nets; ++i) {
        char name[17];
        mz_net_t net;
        if (!open_next(&net, name, state, sizeof(state))) {
            return 1;
        }
        for (uint32_t b = 0; b < sizeof(arena); ++b) {
            arena[b] = (uint8_t)next_random();
        }
        // A name with = is for a profile: only whole steps.
        for (int32_t op = 0; op < net.n_ops && name[0] != '='; ++op) {
            measure_op(&net, name, op);
        }
        if (net.n_ops > 1) {
            measure_net(&net, name);
        }
    }
    return 0;
}
