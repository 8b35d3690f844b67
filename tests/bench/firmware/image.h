// What bench.c and models.c share: networks of an image, counts of calls, printed lines
//     NAME OP MEASURE TICKS
// An image: "MZB1", count; then for each network name[16], plan bytes, blob bytes, both.
#ifndef IMAGE_H
#define IMAGE_H

#include <string.h>

#include "layer.h"
#include "net.h"
#include "target.h"
#include "update.h"

#define TICK_MASK 0xffffff // of SysTick

static uint8_t arena[512 * 1024] __attribute__((aligned(8)));
static int32_t plan[4096];
static const uint8_t *at;
static uint32_t empty_ticks; // of COUNT itself

// Ticks of a call; the counter has 24 bits on Cortex-M.
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

static uint32_t word(void) {
    uint32_t v;
    memcpy(&v, at, 4);
    at += 4;
    return v;
}

// Number of networks in the image; measures COUNT.
static uint32_t open_image(void) {
    at = target_image + 4;
    COUNT(empty_ticks, (void)0);
    return word();
}

// The next network, its trained values set from its file. 0 if the kernels refuse it.
static int open_next(mz_net_t *net, char name[17], uint8_t *state, int32_t state_len) {
    memcpy(name, at, 16);
    name[16] = 0;
    at += 16;
    uint32_t plan_len = word();
    uint32_t blob_len = word();
    memcpy(plan, at, plan_len);
    at += plan_len;
    net->plan = plan;
    net->use = MZ_USE_ALL;
    net->blob.data = (uint8_t *)at;
    net->blob.len = (int32_t)blob_len;
    net->state.data = state;
    net->state.len = state_len;
    net->arena.data = arena;
    net->arena.len = sizeof(arena);
    at += blob_len;
    if (mz_net_open(net, (int32_t)plan_len) < 0 || mz_layers_check(net, 0, net->n_ops) < 0) {
        target_write("REFUSED\n");
        return 0;
    }
    for (int32_t op = 0; op < net->n_ops; ++op) {
        mz_layer_t layer;
        mz_layer_load(net, op, &layer);
        mz_init_state(&layer);
    }
    return 1;
}

#endif
