// Runs every layer of the networks of an image by the kernels and by one other library, and prints
// for each the instructions of both, how many outputs differ, and by how much at most those do that
// do not saturate.
#include "../image.h"
#include "peer.h"

static uint8_t state[256 * 1024] __attribute__((aligned(8)));
static int8_t ours[64 * 1024];
peer_t peer;

static void fill_arena(void) {
    uint32_t random = 1;
    for (uint32_t i = 0; i < sizeof(arena); ++i) {
        random = random * 1664525 + 1013904223;
        arena[i] = (uint8_t)(random >> 24);
    }
}

static void load_parameters(const mz_layer_t *l) {
    if (!mz_has_weights(l->kind)) {
        return;
    }
    for (int32_t c = 0; c < l->out_c; ++c) {
        peer.bias[c] = l->bias[c];
        peer.mult[c] = l->mult[c];
        peer.shift[c] = l->shift[c];
    }
    for (int32_t i = 0; i < l->out_c * l->k; ++i) {
        int32_t at = l->kind == MZ_DWCONV ? i % l->k * l->out_c + i / l->k : i;
        peer.weights[at] = l->weights[i];
    }
}

static void measure(const mz_net_t *net, const char *name, int32_t op) {
    mz_layer_t layer;
    mz_pass_t pass;
    uint32_t ticks;
    mz_layer_load(net, op, &layer);
    if (layer.out_size > (int32_t)sizeof(ours) || layer.out_c > PEER_CHANNELS
        || (mz_has_weights(layer.kind) && layer.out_c * layer.k > (int32_t)sizeof(peer.weights))) {
        return;
    }
    load_parameters(&layer);
    if (!peer_prepare(&layer)) {
        return;
    }
    mz_pass_plain(&pass, 0);
    COUNT(ticks, mz_run(net, op, op + 1, &pass));
    print(name, op, "microzo", ticks);
    memcpy(ours, layer.out, (size_t)layer.out_size);
    COUNT(ticks, peer_run(&layer));
    print(name, op, "peer", ticks);
    int32_t different = 0;
    int32_t most = 0;
    for (int32_t i = 0; i < layer.out_size; ++i) {
        int32_t by = ours[i] > peer.out[i] ? ours[i] - peer.out[i] : peer.out[i] - ours[i];
        different += by != 0;
        // TinyMaix does not saturate.
        most = by > most && ours[i] > -128 && ours[i] < 127 ? by : most;
    }
    print(name, op, "value-different", (uint32_t)different);
    print(name, op, "value-most", (uint32_t)most);
}

int main(void) {
#if defined(__arm__)
    // Other libraries may read unaligned words, as the core can; see cortexm.c.
    *(volatile uint32_t *)0xe000ed14 &= ~(uint32_t)(1 << 3);
#endif
    uint32_t nets = open_image();
    for (uint32_t i = 0; i < nets; ++i) {
        char name[17];
        mz_net_t net;
        if (!open_next(&net, name, state, sizeof(state))) {
            return 1;
        }
        fill_arena();
        for (int32_t op = 0; op < net.n_ops; ++op) {
            measure(&net, name, op);
        }
    }
    return 0;
}
