// Runs whole models, operator by operator, and prints instruction counts.
// Measures: forward; of operators with trained values also perturbed (one pass), update (PAIRS
// pairs), stats (an unperturbed pass for them), gradient, apply; of what comes before the head tail
// (its gradient in closed form); of the last but the head node (both passes and the sums); of a
// trained model that begins with a dense layer pair (both passes of all operators) and further-pair
// (the next one of the same input).
#include "gradient.h"
#include "image.h"
#include "node.h"
#include "ops.h"
#include "update.h"

#define PAIRS 8 // of a step of the recipe spsa

static uint8_t state[640 * 1024] __attribute__((aligned(8)));
static int32_t grad[96 * 1024];
static int32_t sums[16 * 1024];
static int64_t statistics[2048];
static int8_t outputs[16 * 1024];

// The sums of a layer that outputs are made of, as realign wants them.
static void run_stats(const mz_layer_t *layer, int32_t op) {
    mz_pass_t pass;
    mz_view_t view;
    mz_pass_plain(&pass, 0);
    mz_view_open(&view, layer, op, &pass);
    view.sums = statistics;
    view.sum_shift = 4;
    if (layer->kind == MZ_CONV) {
        mz_conv(&view);
    } else if (layer->kind == MZ_DWCONV) {
        mz_dwconv(&view);
    }
}

// What exact gradients and node perturbation take, on gradients that are not 0.
static void measure_gradients(const mz_net_t *net, const char *name, int32_t op, bool before_head) {
    static const mz_node_t of_recipe = {.seed = 4711, .label = 3, .keep = UINT32_MAX, .eps = 16, .scale = 256,
        .shift = 9, .clip = 8192};
    mz_layer_t layer;
    uint32_t ticks;
    int32_t out[2];
    mz_layer_load(net, op, &layer);
    for (int32_t i = 0; i < layer.out_size; ++i) {
        sums[i] = 1000 - 7 * i;
    }
    if (layer.kind == MZ_DENSE) {
        COUNT(ticks, mz_head_gradient(&layer, sums, grad));
    } else {
        COUNT(ticks, mz_node_gradient(&layer, 3, sums, grad));
    }
    print(name, op, "gradient", ticks);
    COUNT(ticks, mz_gradient_apply(&layer, 4, 3, grad));
    print(name, op, "apply", ticks);
    if (layer.kind != MZ_DENSE) {
        COUNT(ticks, run_stats(&layer, op));
        print(name, op, "stats", ticks);
    }
    if (before_head) {
        mz_node_t node = of_recipe;
        node.op = op;
        COUNT(ticks, mz_node_probe(net, &node, outputs, sums, out));
        print(name, op, "node", ticks);
    }
}

// The gradient in closed form of a convolution behind which come an ADD or not, an average or not
// and the head.
static void measure_tail(const mz_net_t *net, const char *name, int32_t op) {
    mz_layer_t layer, gate, pool, head;
    uint32_t ticks;
    int32_t at = net->n_ops - 2;
    mz_layer_load(net, op, &layer);
    mz_layer_load(net, at + 1, &head);
    mz_layer_load(net, at, &pool);
    bool pooled = pool.kind == MZ_AVGPOOL || pool.kind == MZ_MEAN;
    at -= pooled;
    mz_layer_load(net, at, &gate);
    bool added = gate.kind == MZ_ADD && (gate.in_id == layer.out_id || gate.in2_id == layer.out_id);
    if (layer.kind != MZ_CONV || head.kind != MZ_DENSE || (!added && at != op)) {
        return;
    }
    // All outputs count, which is the most that it can take.
    memset(layer.out, layer.act_max - 1, (size_t)layer.out_size);
    memset(gate.out, gate.act_max - 1, (size_t)gate.out_size);
    for (int32_t i = 0; i < head.out_c; ++i) {
        sums[i] = 7000 * (i == 1 ? 1 - head.out_c : 1) + 100 * i;
    }
    COUNT(ticks, mz_tail_gradient(&layer, added ? &gate : &layer, pooled ? &pool : NULL, &head, sums, grad));
    print(name, op, "tail", ticks);
}

static bool has_weights(const mz_net_t *net, int32_t op) {
    mz_layer_t layer;
    mz_layer_load(net, op, &layer);
    return mz_has_weights(layer.kind);
}

static void measure_pairs(const mz_net_t *net, const char *name) {
    int32_t out[MZ_KEPT + 8] = {0};
    mz_layer_t layer;
    mz_pass_t pass;
    uint32_t ticks;
    mz_layer_load(net, 0, &layer);
    if (layer.kind != MZ_DENSE || layer.master == NULL) {
        return;
    }
    mz_pass_plain(&pass, MZ_MODE_KEEP);
    pass.hi = net->n_ops;
    pass.seed = 4711;
    pass.what = 3;
    COUNT(ticks, mz_probe(net, 0, &pass, 3, out));
    print(name, 99, "pair", ticks);
    COUNT(ticks, mz_probe(net, 0, &pass, 3, out));
    print(name, 99, "further-pair", ticks);
}

static void measure(const mz_net_t *net, const char *name) {
    mz_layer_t layer;
    mz_pass_t pass;
    uint32_t ticks;
    int32_t pairs[2 * PAIRS];
    for (int32_t i = 0; i < PAIRS; ++i) {
        pairs[2 * i] = 4711 + i;
        pairs[2 * i + 1] = i % 2 ? 300 + i : -200 - i;
    }
    for (int32_t op = 0; op < net->n_ops; ++op) {
        mz_layer_load(net, op, &layer);
        bool trained = layer.master != NULL;
        mz_pass_plain(&pass, 0);
        if (!trained) {
            COUNT(ticks, mz_run(net, op, op + 1, &pass));
            print(name, op, "forward", ticks);
            continue;
        }
        pass.sign = 1;
        pass.hi = net->n_ops;
        pass.seed = 4711;
        pass.what = 3;
        COUNT(ticks, mz_run(net, op, op + 1, &pass));
        print(name, op, "perturbed", ticks);
        COUNT(ticks, mz_update(&layer, 3, pairs, PAIRS, 8));
        print(name, op, "update", ticks);
        int32_t next = op + 1;
        while (next < net->n_ops && !has_weights(net, next)) {
            ++next;
        }
        measure_gradients(net, name, op, next == net->n_ops - 1);
        measure_tail(net, name, op);
    }
}

int main(void) {
    uint32_t nets = open_image();
    for (uint32_t i = 0; i < nets; ++i) {
        char name[17];
        mz_net_t net;
        if (!open_next(&net, name, state, sizeof(state))) {
            return 1;
        }
        uint32_t random = 1;
        for (uint32_t b = 0; b < sizeof(arena); ++b) {
            random = random * 1664525 + 1013904223;
            arena[b] = (uint8_t)(random >> 24);
        }
        measure(&net, name);
        measure_pairs(&net, name);
    }
    return 0;
}
