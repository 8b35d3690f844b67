// Dense layer: one position, so every row of weights is used once.
#include "arch/arch.h"
#include "ops.h"

#if MZ_WORDS

#include "dense.h"
#include "output.h"
#include "pack.h"

// Masked wide rows are products scaled by 2^(8 - f): as many inputs at a time as fit.
#define CHUNK 256

#if MZ_THUMB1
#define INPUT_BYTES 4
#else
#define INPUT_BYTES 2
#endif

// Scratch: the expanded input, then what signs need or packed rows.
typedef struct {
    const mz_view_t *view;
    int kind;
    bool packed; // rows that do not lie on words are packed first, with their signs
    mz_signs_t signs;
} dense_t;

static void dense_open(dense_t *s, const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    const void *rows = l->master == NULL ? (const void *)l->weights : (const void *)l->master;
    s->view = view;
    s->kind = l->master == NULL ? MZ_ROWS_INT8 : view->wide ? MZ_ROWS_WIDE : MZ_ROWS_MASTER;
    s->packed = l->k != l->k4 || ((uintptr_t)rows & 3);
    if (view->eps != 0 && INPUT_BYTES * l->k4 + mz_signs_bytes(l->k) > l->scratch_len) {
        s->packed = true;
    }
    if (s->packed) {
        s->kind = MZ_ROWS_WIDE;
    }
    mz_dense_expand(l, s->kind, l->scratch);
    if (view->eps != 0 && !s->packed) {
        mz_signs_open(&s->signs, view, l->scratch + INPUT_BYTES * l->k4);
    }
}

static const void *row_address(const dense_t *s, int32_t row, int32_t i) {
    const mz_layer_t *l = s->view->layer;
    if (s->packed) {
        int16_t *to = (int16_t *)(void *)(l->scratch + INPUT_BYTES * l->k4) + i * l->k4;
        mz_pack_row(s->view, row, to);
        return to;
    }
    return s->kind == MZ_ROWS_INT8 ? (const void *)(l->weights + row * l->k)
        : (const void *)(l->master + row * l->k);
}

// dot->acc += products of the four rows.
static void products(const dense_t *s, mz_dot4_t *dot) {
    const mz_layer_t *l = s->view->layer;
    if (s->kind == MZ_ROWS_INT8) {
        mz_dot4_range(dot, s->kind, l->scratch, 0, l->k4);
        mz_dot4_int8(dot);
        return;
    }
    if (s->kind == MZ_ROWS_MASTER) {
        mz_dot4_range(dot, s->kind, l->scratch, 0, l->k4);
        mz_dot4_master(dot);
        return;
    }
    int32_t drop = s->packed ? 0 : 8 - s->view->f;
    int32_t acc[4];
    for (int32_t i = 0; i < 4; ++i) {
        acc[i] = dot->acc[i];
    }
#if MZ_DSP
    dot->mask = (0xffffu << drop & 0xffff) * 0x00010001u;
#else
    dot->mask = 0xffffffffu << drop;
#endif
    for (int32_t begin = 0; begin < l->k4; begin += CHUNK) {
        mz_dot4_range(dot, s->kind, l->scratch, begin, mz_min(begin + CHUNK, l->k4));
        for (int32_t i = 0; i < 4; ++i) {
            dot->acc[i] = 0;
        }
        mz_dot4_wide(dot);
        for (int32_t i = 0; i < 4; ++i) {
            dot->rows[i] = (const int16_t *)dot->rows[i] + CHUNK;
            acc[i] += dot->acc[i] >> drop;
        }
    }
    for (int32_t i = 0; i < 4; ++i) {
        dot->acc[i] = acc[i];
    }
}

void mz_dense(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    dense_t s;
    mz_dot4_t dot;
    mz_channel_t channels[4];
    dense_open(&s, view);
    for (int32_t c = 0; c < l->out_c; c += 4) {
        int32_t n = mz_min(4, l->out_c - c);
        mz_channels_load(view, c, n, channels);
        for (int32_t i = 0; i < 4; ++i) {
            // A short last quad repeats its last row; the copies are not stored.
            int32_t row = mz_min(i, n - 1);
            dot.acc[i] = channels[row].bias;
            dot.rows[i] = row_address(&s, c + row, i);
        }
        products(&s, &dot);
        if (view->eps != 0 && !s.packed) {
            int32_t sum[4];
            mz_signs_four(&s.signs, c, sum);
            for (int32_t i = 0; i < 4; ++i) {
                dot.acc[i] += view->eps * sum[i];
            }
        }
        mz_output(view, 0, c, n, channels, dot.acc);
    }
}

#else

#include "tile.h"

void mz_dense(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    for (int32_t c = 0; c < l->out_c; c += MZ_TILE) {
        mz_tile_t tile;
        int32_t acc[MZ_TILE];
        mz_tile_load(&tile, view, c);
        mz_tile_start(&tile, acc);
        mz_arch_dot(tile.w, l->k4, 0, l->in, 0, 1, l->k, l->in_zp, acc);
        mz_tile_store(&tile, 0, acc);
    }
}

#endif
