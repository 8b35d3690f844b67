// Runs whole models, operator by operator, and prints instruction counts:
//     NAME OP MEASURE TICKS
// Measures: forward; of operators with trained values also perturbed (one pass), update (PAIRS
// pairs), stats (an unperturbed pass for them), gradient, apply and, of the last but the head,
// node (both passes and the sums). The image is that of bench.c.
#include <string.h>

#include "gradient.h"
#include "layer.h"
#include "net.h"
#include "node.h"
#include "ops.h"
#include "target.h"
#include "update.h"

#define PAIRS 8 // of a step of the recipe spsa
#define TICK_MASK 0xffffff // of SysTick

static uint8_t arena[512 * 1024] __attribute__((aligned(8)));
static uint8_t state[640 * 1024] __attribute__((aligned(8)));
static int32_t grad[96 * 1024];
static int32_t sums[16 * 1024];
static int64_t statistics[2048];
static int8_t outputs[16 * 1024];
static int32_t plan[4096];
static const uint8_t *at;
static uint32_t empty_ticks;

#define COUNT(result, call) \
    do { \
        uint32_t begin_ticks = target_ticks(); \
        call; \
        result = ((target_ticks() - begin_ticks) & TICK_MASK) - empty_ticks; \
    } while (0)

static char *put(char *to, uint32_t v) {
    char digits[10];
    int32_t n = 0;
    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    while (n) {
        *to++ = digits[--n];
    }
    return to;
}

static void print(const char *name, int32_t op, const char *measure, uint32_t ticks) {
    char text[96];
    strcpy(text, name);
    char *to = text + strlen(text);
    *to++ = ' ';
    to = put(to, (uint32_t)op);
    *to++ = ' ';
    strcpy(to, measure);
    to += strlen(to);
    *to++ = ' ';
    to = put(to, ticks);
    strcpy(to, "\n");
    target_write(text);
}

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
    static const mz_node_t of_recipe = {0, 4711, 3, 0, 16, 256, 9, 8192};
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

static bool has_weights(const mz_net_t *net, int32_t op) {
    mz_layer_t layer;
    mz_layer_load(net, op, &layer);
    return mz_has_weights(layer.kind);
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
    }
}

static uint32_t word(void) {
    uint32_t v;
    memcpy(&v, at, 4);
    at += 4;
    return v;
}

int main(void) {
    at = target_image + 4;
    COUNT(empty_ticks, (void)0);
    uint32_t nets = word();
    for (uint32_t i = 0; i < nets; ++i) {
        char name[17] = {0};
        mz_net_t net;
        memcpy(name, at, 16);
        at += 16;
        uint32_t plan_len = word();
        uint32_t blob_len = word();
        memcpy(plan, at, plan_len);
        at += plan_len;
        net.plan = plan;
        net.use = MZ_USE_ALL;
        net.blob.data = (uint8_t *)at;
        net.blob.len = (int32_t)blob_len;
        net.state.data = state;
        net.state.len = sizeof(state);
        net.arena.data = arena;
        net.arena.len = sizeof(arena);
        at += blob_len;
        if (mz_net_open(&net, (int32_t)plan_len) < 0 || mz_layers_check(&net, 0, net.n_ops) < 0) {
            target_write("REFUSED\n");
            return 1;
        }
        uint32_t random = 1;
        for (uint32_t b = 0; b < sizeof(arena); ++b) {
            random = random * 1664525 + 1013904223;
            arena[b] = (uint8_t)(random >> 24);
        }
        for (int32_t op = 0; op < net.n_ops; ++op) {
            mz_layer_t layer;
            mz_layer_load(&net, op, &layer);
            mz_init_state(&layer);
        }
        measure(&net, name);
    }
    return 0;
}
