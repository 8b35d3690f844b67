// Dense layer: one position, so every row of weights is used once.
#include "arch/arch.h"
#include "ops.h"

#if MZ_WORDS

#include "dense.h"
#include "output.h"
#include "pack.h"

// Masked wide rows are products scaled by 2^(8 - f): as many inputs at a time as fit.
#define CHUNK 256

// Channels whose outputs are made together: whole fours and whole rounds of rows.
#define BLOCK (MZ_ROWS == 5 ? 20 : 16)

#if MZ_THUMB1
#define INPUT_BYTES 4
#else
#define INPUT_BYTES 2
#endif

// Scratch: the expanded input, then what signs need or packed rows.
typedef struct {
    const mz_view_t *view;
    int kind;
    bool fresh; // the products are to be made
    bool packed; // rows that do not lie on words are packed first, with their signs
    const uint8_t *rows;
    int32_t pitch; // bytes of a row
    mz_signs_t signs;
} dense_t;

static MZ_BUSY void dense_open(dense_t *s, const mz_view_t *view) {
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
    if (s->fresh || !MZ_DSP) { // else signs are summed from the table of the expanded input
        mz_dense_expand(l, s->kind, l->scratch);
    }
    if (view->eps != 0 && !s->packed) {
        mz_signs_open(&s->signs, view, l->scratch + INPUT_BYTES * l->k4);
    }
}

// The rows from c, packed with their signs; the last one is repeated.
static MZ_RARE void pack_rows(const dense_t *s, int32_t c, int32_t n, mz_dot_t *dot) {
    const mz_layer_t *l = s->view->layer;
    int16_t *to = (int16_t *)(void *)(l->scratch + INPUT_BYTES * l->k4);
    dot->row = (const uint8_t *)to;
    dot->pitch = 2 * l->k4;
    for (int32_t i = 0; i < n; ++i, to += l->k4) {
        mz_pack_row(s->view, c + i, to);
    }
}

// Products of up to MZ_ROWS masked wide rows, in parts that fit in 32 bits.
static MZ_BUSY void wide_products(const dense_t *s, int32_t n, mz_dot_t *dot, int32_t *sums) {
    const mz_layer_t *l = s->view->layer;
    int32_t drop = s->packed ? 0 : 8 - s->view->f;
    int32_t part[MZ_ROWS];
    for (int32_t i = 0; i < MZ_ROWS; ++i) {
        sums[i] = 0;
    }
#if MZ_DSP
    dot->mask = (0xffffu << drop & 0xffff) * 0x00010001u;
#else
    dot->mask = 0xffffffffu << drop;
#endif
    for (int32_t begin = 0; begin < l->k4; begin += CHUNK) {
        mz_dot_range(dot, MZ_ROWS_WIDE, l->scratch, begin, mz_min(begin + CHUNK, l->k4));
        mz_dot(dot, n, part);
        dot->row += 2 * CHUNK;
        for (int32_t i = 0; i < MZ_ROWS; ++i) {
            sums[i] += part[i] >> drop;
        }
    }
}

// The same for wide or packed rows from c.
static MZ_BUSY void wide_rows(const dense_t *s, int32_t c, int32_t n, int32_t *sums) {
    mz_dot_t dot;
    for (int32_t i = 0; i < n; i += MZ_ROWS) {
        int32_t rows = mz_min(MZ_ROWS, n - i);
        dot.row = s->rows + (c + i) * s->pitch;
        dot.pitch = s->pitch;
        if (s->packed) {
            pack_rows(s, c + i, rows, &dot);
        }
        wide_products(s, rows, &dot, sums + i);
    }
}

// Products that a caller has kept may be anything.
static inline int32_t add(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static MZ_BUSY void any_output(const mz_view_t *view, int32_t c, int32_t n, const int32_t *sums) {
    mz_channel_t channels[BLOCK];
    int32_t acc[BLOCK];
    mz_channels_load(view, c, n, channels);
    for (int32_t i = 0; i < n; ++i) {
        acc[i] = add(sums[i], channels[i].bias);
    }
    mz_output(view, 0, c, n, channels, acc);
}

// The same for int8 outputs of unperturbed channels, read as they lie in memory: short layers
// are all ends. Biases of at most `most`; from the first other channel on they go elsewhere.
static MZ_BUSY void plain_output(const mz_view_t *view, int32_t c, int32_t n, const int32_t *sums, int32_t most) {
    const mz_layer_t *l = view->layer;
    const int32_t *biases = (l->state_bias != NULL ? l->state_bias : l->bias) + c;
    const int32_t *mults = (l->state_mult != NULL ? l->state_mult : l->mult) + c;
    const int8_t *shifts = (l->state_mult != NULL ? l->state_shift : l->shift) + c;
    int8_t *out = l->out + c;
    int8_t *end = out + n;
    const int32_t *sum = sums;
    int32_t zp = l->out_zp;
    while (out != end) {
        int32_t bias = *biases++;
        int32_t mult = *mults++;
        int32_t acc = add(*sum++, bias);
        int32_t right = -1 - *shifts++;
        // A bias of -most - 1 would pass as well if `most` itself did.
        if ((bias ^ bias >> 31) >= most || (uint32_t)right > 30) {
            break;
        }
        *out++ = (int8_t)mz_sat8(mz_round_right(mz_high_small(acc, mz_max(mult, 0)), right) + zp);
    }
    int32_t done = n - (int32_t)(end - out);
    mz_clamp(l, l->out + c, done);
    if (done < n) {
        any_output(view, c + done, n - done, sums + done);
    }
}

static inline void output(const mz_view_t *view, int32_t c, int32_t n, const int32_t *sums, int32_t most) {
    if (mz_view_fast(view) && most >= 0 && (view->f | view->bias_sign | view->scale_sign) == 0) {
        plain_output(view, c, n, sums, most);
    } else {
        any_output(view, c, n, sums);
    }
}

static inline void add_signs(const int32_t *products, const int32_t *signed_sums, int32_t n, int32_t eps,
    int32_t *sums) {
    for (int32_t i = 0; i < n; ++i) {
        sums[i] = add(products[i], eps * signed_sums[i]);
    }
}

// The layer as `view` reads it, and as `other` does from the same input, if there is one. kept:
// where the products go or, unless they are fresh, are; or NULL.
static MZ_BUSY void dense(const dense_t *s, const mz_view_t *view, const mz_view_t *other, int32_t *kept) {
    const mz_layer_t *l = view->layer;
    bool signs = view->eps != 0 && !s->packed;
    mz_dot_t dot;
    int32_t made[BLOCK];
    int32_t signed_sums[BLOCK];
    int32_t perturbed[BLOCK];
    int32_t *products = made;
    const int32_t *sums = products;
    int32_t most = mz_min(l->b_max, mz_bias_room(view));
    dot.row = s->rows;
    dot.pitch = s->pitch;
    mz_dot_range(&dot, s->kind, l->scratch, 0, l->k4);
    for (int32_t c = 0; c < l->out_c; c += BLOCK) {
        int32_t n = mz_min(BLOCK, l->out_c - c);
        if (kept != NULL) {
            products = kept + c;
            sums = products;
        }
        if (s->fresh && s->kind == MZ_ROWS_WIDE) {
            wide_rows(s, c, n, products);
        } else if (s->fresh) {
            mz_dot(&dot, n, products);
        }
        dot.row += BLOCK * s->pitch;
        if (signs) {
            for (int32_t i = 0; i < n; i += 4) {
                mz_signs_four(&s->signs, c + i, signed_sums + i);
            }
            sums = perturbed;
            add_signs(products, signed_sums, n, view->eps, perturbed);
        }
        output(view, c, n, sums, most);
        if (other != NULL) {
            if (signs) {
                add_signs(products, signed_sums, n, other->eps, perturbed);
            }
            output(other, c, n, sums, most);
        }
    }
}

bool mz_dense_first(const mz_view_t *view, const mz_view_t *other, int32_t *kept) {
    dense_t s;
    s.fresh = kept == NULL || *kept == 0;
    dense_open(&s, view);
    if (s.packed && view->eps != 0 && (other != NULL || kept != NULL)) {
        return false; // the packed rows are those of one view
    }
    if (kept != NULL) {
        *kept++ = 1;
    }
    dense(&s, view, other, kept);
    return true;
}

void mz_dense(const mz_view_t *view) {
    mz_dense_first(view, NULL, NULL);
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

bool mz_dense_first(const mz_view_t *view, const mz_view_t *other, int32_t *kept) {
    (void)view;
    (void)other;
    (void)kept;
    return false;
}

#endif
