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

// How products are made: by mz_dot, of wide or packed rows, of two inputs, or not: they are kept.
enum {
    BY_DOT,
    BY_WIDE_ROWS,
    BY_TWO,
    BY_NONE,
};

// Scratch: the expanded input, then what signs need or packed rows.
typedef struct {
    const mz_view_t *view;
    int kind;
    int how;
    bool packed; // rows that do not lie on words are packed first, with their signs
    bool perturbed; // by signs that are summed
    const uint8_t *rows;
    int32_t pitch; // bytes of a row
    mz_signs_t signs;
} dense_t;

static MZ_BUSY void dense_open(dense_t *s, const mz_view_t *view, bool kept) {
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
    s->how = kept ? BY_NONE : s->kind == MZ_ROWS_WIDE ? BY_WIDE_ROWS : BY_DOT;
    if (!kept || !MZ_DSP) { // else signs are summed from the table of the expanded input
        mz_dense_expand(l, s->kind, l->scratch);
    }
    s->perturbed = view->eps != 0 && !s->packed;
    if (s->perturbed) {
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
    mz_channel_t channels[MZ_BLOCK];
    int32_t acc[MZ_BLOCK];
    mz_channels_load(view, c, n, channels);
    for (int32_t i = 0; i < n; ++i) {
        acc[i] = add(sums[i], channels[i].bias);
    }
    mz_output(view, 0, c, n, channels, acc);
}

// The same for int8 outputs of unperturbed channels, read as they lie in memory: short layers
// are all ends. Biases of at most `most`; from the first other channel on they go elsewhere. once: of
// one rounding, as imported layers have them.
static inline __attribute__((always_inline)) void direct_output(const mz_view_t *view, int32_t c, int32_t n,
    const int32_t *sums, int32_t most, bool once) {
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
        int32_t mult = mz_max(*mults++, 0);
        int32_t acc = add(*sum++, bias);
        int32_t right = -1 - *shifts++;
        // A bias of -most - 1 would pass as well if `most` itself did.
        if ((bias ^ bias >> 31) >= most || (uint32_t)(right - once) > 30) {
            break;
        }
        int32_t v = once ? mz_round_once(acc, mult, right) : mz_round_right(mz_high_small(acc, mult), right);
        *out++ = (int8_t)mz_sat8(v + zp);
    }
    int32_t done = n - (int32_t)(end - out);
    mz_clamp(l, l->out + c, done);
    if (done < n) {
        any_output(view, c + done, n - done, sums + done);
    }
}

static MZ_BUSY void plain_output(const mz_view_t *view, int32_t c, int32_t n, const int32_t *sums, int32_t most) {
    direct_output(view, c, n, sums, most, false);
}

static MZ_BUSY void once_output(const mz_view_t *view, int32_t c, int32_t n, const int32_t *sums, int32_t most) {
    direct_output(view, c, n, sums, most, true);
}

static inline void output(const mz_view_t *view, int32_t c, int32_t n, const int32_t *sums, int32_t most) {
    const mz_layer_t *l = view->layer;
    if (view->sums != NULL || l->logits != NULL || most < 0
        || (view->f | view->bias_sign | view->scale_sign) != 0) {
        any_output(view, c, n, sums);
    } else if (l->flags & MZ_FLAG_ROUND_ONCE) {
        once_output(view, c, n, sums, most);
    } else {
        plain_output(view, c, n, sums, most);
    }
}

// Sums of the inputs with their signs, which the other pass may use again, and of perturbed rows.
typedef struct {
    int32_t signs[MZ_BLOCK];
    int32_t all[MZ_BLOCK];
} perturbed_t;

static MZ_BUSY void perturb(const mz_signs_t *signs, int32_t c, int32_t n, int32_t eps, const int32_t *products,
    perturbed_t *sums) {
    for (int32_t i = 0; signs != NULL && i < n; i += 4) {
        mz_signs_four(signs, c + i, sums->signs + i);
    }
    for (int32_t i = 0; i < n; ++i) {
        sums->all[i] = add(products[i], eps * sums->signs[i]);
    }
}

// Products that take more than a call of mz_dot.
static MZ_BUSY void other_products(const dense_t *s, const mz_view_t *const *views, int32_t c, int32_t n,
    const mz_dot_t *dot, int32_t *products) {
    if (s->how == BY_WIDE_ROWS) {
        wide_rows(s, c, n, products);
    } else if (MZ_DSP && s->how == BY_TWO) {
        mz_dot_two(dot, views[1]->layer->scratch, n, products);
    }
}

// The layer as one or two views read it; the second has an input of its own if s says so, and is the
// next of s then. kept: where the products go or are; or NULL.
static MZ_BUSY void dense(const dense_t *s, const mz_view_t *const *views, int32_t passes, int32_t *kept) {
    const mz_view_t *view = views[0];
    const mz_layer_t *l = view->layer;
    mz_dot_t dot;
    int32_t made[2 * MZ_BLOCK];
    perturbed_t perturbed;
    int32_t most = mz_min(l->b_max, mz_bias_room(view));
    dot.row = s->rows;
    dot.pitch = s->pitch;
    mz_dot_range(&dot, s->kind, l->scratch, 0, l->k4);
    for (int32_t c = 0; c < l->out_c; c += MZ_BLOCK) {
        int32_t n = mz_min(MZ_BLOCK, l->out_c - c);
        int32_t *products = kept != NULL ? kept + c : made;
        if (s->how == BY_DOT) {
            mz_dot(&dot, n, products);
        } else {
            other_products(s, views, c, n, &dot, products);
        }
        dot.row += MZ_BLOCK * s->pitch;
        for (int32_t i = 0;;) {
            const int32_t *sums = products;
            if (s->perturbed) {
                const mz_signs_t *drawn = i == 0 || s->how == BY_TWO ? &s[i].signs : NULL;
                perturb(drawn, c, n, views[i]->eps, products, &perturbed);
                sums = perturbed.all;
            }
            output(views[i], c, n, sums, most);
            if (++i == passes) {
                break;
            }
            products += s->how == BY_TWO ? MZ_BLOCK : 0;
        }
    }
}

MZ_RARE bool mz_dense_passes(const mz_view_t *view, const mz_view_t *other, int32_t *kept) {
    const mz_view_t *views[2] = {view, other};
    dense_t s[2];
    bool two = other != NULL && other->layer->in != view->layer->in;
    if (two && (!MZ_DSP || (view->layer->k & 7))) {
        return false;
    }
    dense_open(&s[0], view, kept != NULL && *kept != 0);
    if (two) {
        dense_open(&s[1], other, false);
        if (s[0].how != BY_DOT) {
            return false;
        }
        s[0].how = BY_TWO;
    } else if (s[0].packed && view->eps != 0) {
        return false; // the packed rows are those of one view
    }
    if (kept != NULL) {
        *kept++ = 1;
    }
    dense(s, views, other != NULL ? 2 : 1, kept);
    return true;
}

void mz_dense(const mz_view_t *view) {
    dense_t s;
    dense_open(&s, view, false);
    dense(&s, &view, 1, NULL);
}

#else

#include "tile.h"

#if MZ_RV32

// Sums of four rows of int8 as they lie in memory and an expanded input.
static MZ_BUSY void dot_bytes(const int8_t *w, int32_t k, const int16_t *x, int32_t *sums) {
    const int8_t *w1 = w + k;
    const int8_t *w2 = w1 + k;
    const int8_t *w3 = w2 + k;
    int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0;
    const int16_t *end = x + k;
    for (; end - x >= 4; x += 4, w += 4, w1 += 4, w2 += 4, w3 += 4) {
        #pragma GCC unroll 4
        for (int32_t i = 0; i < 4; ++i) {
            int32_t v = x[i];
            a0 += w[i] * v;
            a1 += w1[i] * v;
            a2 += w2[i] * v;
            a3 += w3[i] * v;
        }
    }
    for (; x != end; ++x) {
        int32_t v = *x;
        a0 += *w++ * v;
        a1 += *w1++ * v;
        a2 += *w2++ * v;
        a3 += *w3++ * v;
    }
    sums[0] = a0;
    sums[1] = a1;
    sums[2] = a2;
    sums[3] = a3;
}

// Frozen rows: nothing is packed.
static void dense_bytes(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    int16_t *x = (int16_t *)(void *)l->scratch;
    for (int32_t i = 0; i < l->k; ++i) {
        x[i] = (int16_t)(l->in[i] - l->in_zp);
    }
    for (int32_t c = 0; c < l->out_c; c += 4) {
        mz_channel_t channels[4];
        int32_t sums[4];
        // The last rows, of which some may be done already.
        int32_t n = mz_min(4, l->out_c - c);
        int32_t first = c + n - 4;
        mz_channels_load(view, c, n, channels);
        dot_bytes(l->weights + first * l->k, l->k, x, sums);
        for (int32_t i = 0; i < n; ++i) {
            sums[i] = sums[4 - n + i] + channels[i].bias;
        }
        mz_output(view, 0, c, n, channels, sums);
    }
}

#endif

void mz_dense(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
#if MZ_RV32
    if (l->master == NULL && view->eps == 0 && l->out_c >= 4) {
        dense_bytes(view);
        return;
    }
#endif
    for (int32_t c = 0; c < l->out_c; c += MZ_TILE) {
        mz_tile_t tile;
        int32_t acc[MZ_TILE];
        mz_tile_load(&tile, view, c);
        mz_tile_start(&tile, acc);
        mz_arch_dot(tile.w, l->k4, 0, l->in, 0, 1, l->k, l->in_zp, acc);
        mz_tile_store(&tile, 0, acc);
    }
}

bool mz_dense_passes(const mz_view_t *view, const mz_view_t *other, int32_t *kept) {
    (void)view;
    (void)other;
    (void)kept;
    return false;
}

#endif
