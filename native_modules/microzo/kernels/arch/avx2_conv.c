// Convolution with 256-bit vectors: 16 channels at four positions. The input is expanded once, with
// its padding, and windows are read from there; two neighbouring inputs meet two weights in one
// instruction.
#include "arch.h"

#if MZ_AVX2

#include "../fast.h"
#include "../ops.h"
#include "../pack.h"
#include "avx2_conv.h"

// What fits on the stack: expanded inputs, and the window of a channel. Other layers go elsewhere.
#define MOST_INPUTS (1 << 17)
#define MOST_WEIGHTS 4608
#define LANES 16
#define AT_ONCE 4

typedef struct {
    int32_t pitch; // of a row of the expanded image, in values
    int32_t row; // values of a window's row, rounded up to two: the last weight is 0 then
    int16_t w[LANES * MOST_WEIGHTS]; // [kernel row][pair of inputs][channel][2]
    int16_t image[MOST_INPUTS + LANES];
} conv_t;

static void expand(const mz_layer_t *l, conv_t *s) {
    int16_t *to = s->image;
    const int8_t *x = l->in;
    int32_t width = l->in_w * l->in_c;
    memset(to, 0, (size_t)(l->p_t * s->pitch) * sizeof(*to));
    to += l->p_t * s->pitch;
    for (int32_t y = 0; y < l->in_h; ++y, x += width, to += s->pitch) {
        int16_t *row = to + l->p_l * l->in_c;
        memset(to, 0, (size_t)(l->p_l * l->in_c) * sizeof(*to));
        for (int32_t i = 0; i < width; ++i) {
            row[i] = (int16_t)(x[i] - l->in_zp);
        }
        memset(row + width, 0, (size_t)(l->p_r * l->in_c) * sizeof(*to));
    }
    // A window of an odd row reads one value more.
    memset(to, 0, (size_t)(l->p_b * s->pitch + LANES) * sizeof(*to));
}

static void pack(const mz_view_t *view, int32_t c, int32_t n, conv_t *s) {
    const mz_layer_t *l = view->layer;
    const int16_t *packed = (const int16_t *)(const void *)l->scratch;
    int32_t width = l->k_w * l->in_c;
    if (n < LANES || s->row != width) {
        memset(s->w, 0, (size_t)(LANES * l->k_h * s->row) * sizeof(*s->w));
    }
    for (int32_t i = 0; i < n; ++i) {
        mz_pack_row(view, c + i, (int16_t *)(void *)l->scratch);
        const int16_t *from = packed;
        for (int32_t ky = 0; ky < l->k_h; ++ky) {
            int16_t *to = s->w + LANES * ky * s->row + 2 * i;
            int32_t j = 0;
            for (; j + 2 <= width; j += 2, from += 2, to += 2 * LANES) {
                memcpy(to, from, 2 * sizeof(*to));
            }
            if (j < width) {
                *to = *from++;
            }
        }
    }
}

static inline __m256i two_inputs(const int16_t *x) {
    int32_t pair;
    memcpy(&pair, x, sizeof(pair));
    return _mm256_set1_epi32(pair);
}

// Sums of 16 channels at `count` positions, which begin with the biases.
static inline __attribute__((always_inline)) void windows(const mz_layer_t *l, const conv_t *s,
    const int16_t *const *x, int32_t count, __m256i (*acc)[2]) {
    const int16_t *w = s->w;
    for (int32_t ky = 0; ky < l->k_h; ++ky) {
        int32_t at = ky * s->pitch;
        for (int32_t end = at + s->row; at < end; at += 2, w += 2 * LANES) {
            __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)w);
            __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(w + LANES));
            #pragma GCC unroll 4
            for (int32_t i = 0; i < count; ++i) {
                __m256i v = two_inputs(x[i] + at);
                acc[i][0] = _mm256_add_epi32(acc[i][0], _mm256_madd_epi16(low, v));
                acc[i][1] = _mm256_add_epi32(acc[i][1], _mm256_madd_epi16(high, v));
            }
        }
    }
}

typedef struct {
    const mz_view_t *view;
    int32_t c, n;
    bool ok; // the fast end will do
    mz_fast_t fast;
    mz_channel_t channels[LANES];
    int32_t bias[LANES];
} tile_t;

static void open_tile(tile_t *tile, const mz_view_t *view, int32_t c) {
    int32_t n = mz_min(LANES, view->layer->out_c - c);
    memset(tile, 0, sizeof(*tile));
    tile->view = view;
    tile->c = c;
    tile->n = n;
    mz_channels_load(view, c, n, tile->channels);
    tile->ok = mz_fast_open(&tile->fast, view, tile->channels, n);
    for (int32_t i = 0; i < n; ++i) {
        tile->bias[i] = tile->channels[i].bias;
    }
}

static inline void store(const tile_t *tile, int32_t p, const __m256i *acc) {
    const mz_layer_t *l = tile->view->layer;
    int8_t *out = l->out + p * l->out_c + tile->c;
    int32_t sums[LANES];
    _mm256_storeu_si256((__m256i *)(void *)sums, acc[0]);
    _mm256_storeu_si256((__m256i *)(void *)(sums + 8), acc[1]);
    if (!tile->ok) {
        mz_output(tile->view, p, tile->c, tile->n, tile->channels, sums);
    } else if (tile->n == LANES) {
        mz_fast_store(&tile->fast, sums, LANES, out);
    } else {
        mz_fast_store(&tile->fast, sums, tile->n, out);
    }
}

static inline __attribute__((always_inline)) void positions(const tile_t *tile, const conv_t *s, int32_t p, int32_t count) {
    const mz_layer_t *l = tile->view->layer;
    const int16_t *x[AT_ONCE];
    __m256i acc[AT_ONCE][2];
    for (int32_t i = 0; i < count; ++i) {
        int32_t oy = (p + i) / l->out_w;
        int32_t ox = (p + i) % l->out_w;
        x[i] = s->image + oy * l->s_h * s->pitch + ox * l->s_w * l->in_c;
        acc[i][0] = mz_avx2_load(tile->bias);
        acc[i][1] = mz_avx2_load(tile->bias + 8);
    }
    windows(l, s, x, count, acc);
    for (int32_t i = 0; i < count; ++i) {
        store(tile, p + i, acc[i]);
    }
}

bool mz_avx2_conv(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    conv_t s;
    tile_t tile;
    int64_t rows = l->in_h + l->p_t + l->p_b;
    int64_t pitch = (int64_t)(l->in_w + l->p_l + l->p_r) * l->in_c;
    s.row = (l->k_w * l->in_c + 1) & ~1;
    if (mz_dilated(l) || rows * pitch > MOST_INPUTS || l->k_h * s.row > MOST_WEIGHTS) {
        return false;
    }
    s.pitch = (int32_t)pitch;
    expand(l, &s);
    int32_t points = l->out_h * l->out_w;
    for (int32_t c = 0; c < l->out_c; c += LANES) {
        open_tile(&tile, view, c);
        pack(view, c, tile.n, &s);
        int32_t p = 0;
        for (; p + AT_ONCE <= points; p += AT_ONCE) {
            positions(&tile, &s, p, AT_ONCE);
        }
        for (; p < points; ++p) {
            positions(&tile, &s, p, 1);
        }
    }
    return true;
}

#endif
