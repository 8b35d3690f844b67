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
    const uint8_t *rows;
    int32_t pitch; // bytes of a row
    mz_signs_t signs;
} dense_t;

static void dense_open(dense_t *s, const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    s->view = view;
    s->rows = l->master == NULL ? (const uint8_t *)l->weights : (const uint8_t *)l->master;
    s->pitch = l->master == NULL ? l->k : 2 * l->k;
    s->kind = l->master == NULL ? MZ_ROWS_INT8 : view->wide ? MZ_ROWS_WIDE : MZ_ROWS_MASTER;
    s->packed = l->k != l->k4 || ((uintptr_t)s->rows & 3);
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

// Addresses of the n rows from c; a short last quad repeats its last row.
static void set_rows(const dense_t *s, int32_t c, int32_t n, mz_dot4_t *dot) {
    const mz_layer_t *l = s->view->layer;
    const uint8_t *row = s->rows + c * s->pitch;
    for (int32_t i = 0; i < 4; ++i) {
        dot->acc[i] = 0;
        dot->rows[i] = row;
        if (s->packed) {
            int16_t *to = (int16_t *)(void *)(l->scratch + INPUT_BYTES * l->k4) + i * l->k4;
            mz_pack_row(s->view, c + mz_min(i, n - 1), to);
            dot->rows[i] = to;
        } else if (i + 1 < n) {
            row += s->pitch;
        }
    }
}

// dot->acc = products of the four rows, from 0.
static void products(const dense_t *s, mz_dot4_t *dot) {
    const mz_layer_t *l = s->view->layer;
    if (s->kind == MZ_ROWS_INT8) {
        mz_dot4_int8(dot);
        return;
    }
    if (s->kind == MZ_ROWS_MASTER) {
        mz_dot4_master(dot);
        return;
    }
    int32_t drop = s->packed ? 0 : 8 - s->view->f;
    int32_t acc[4];
    for (int32_t i = 0; i < 4; ++i) {
        acc[i] = 0;
    }
#if MZ_DSP
    dot->mask = (0xffffu << drop & 0xffff) * 0x00010001u;
#else
    dot->mask = 0xffffffffu << drop;
#endif
    for (int32_t begin = 0; begin < l->k4; begin += CHUNK) {
        mz_dot4_range(dot, s->kind, l->scratch, begin, mz_min(begin + CHUNK, l->k4));
        mz_dot4_wide(dot);
        for (int32_t i = 0; i < 4; ++i) {
            acc[i] += dot->acc[i] >> drop;
            dot->acc[i] = 0;
        }
    }
    for (int32_t i = 0; i < 4; ++i) {
        dot->acc[i] = acc[i];
    }
}

static void output(const mz_view_t *view, int32_t c, int32_t n, const int32_t *sums,
    const int32_t *signed_sums) {
    mz_channel_t channels[4];
    int32_t acc[4];
    mz_channels_load(view, c, n, channels);
    for (int32_t i = 0; i < n; ++i) {
        acc[i] = sums[i] + channels[i].bias + view->eps * signed_sums[i];
    }
    mz_output(view, 0, c, n, channels, acc);
}

// The layer as `view` reads it, and as `other` does from the same input, if there is one.
static void dense(const dense_t *s, const mz_view_t *view, const mz_view_t *other) {
    const mz_layer_t *l = view->layer;
    mz_dot4_t dot;
    int32_t signed_sums[4];
    for (int32_t i = 0; i < 4; ++i) {
        signed_sums[i] = 0;
    }
    mz_dot4_range(&dot, s->kind, l->scratch, 0, l->k4);
    for (int32_t c = 0; c < l->out_c; c += 4) {
        int32_t n = mz_min(4, l->out_c - c);
        set_rows(s, c, n, &dot);
        products(s, &dot);
        if (view->eps != 0 && !s->packed) {
            mz_signs_four(&s->signs, c, signed_sums);
        }
        output(view, c, n, dot.acc, signed_sums);
        if (other != NULL) {
            output(other, c, n, dot.acc, signed_sums);
        }
    }
}

void mz_dense(const mz_view_t *view) {
    dense_t s;
    dense_open(&s, view);
    dense(&s, view, NULL);
}

bool mz_dense_pair(const mz_view_t *view, const mz_view_t *other) {
    dense_t s;
    dense_open(&s, view);
    if (s.packed && view->eps != 0) {
        return false; // the packed rows are those of one view
    }
    dense(&s, view, other);
    return true;
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

bool mz_dense_pair(const mz_view_t *view, const mz_view_t *other) {
    (void)view;
    (void)other;
    return false;
}

#endif
