#include "columns.h"
#include "arch/arch.h"
#include "ops.h"
#include "pack.h"
#include "window.h"

#if MZ_COLUMNS

// Output positions along one axis whose windows lie inside the image: lo <= o < hi.
typedef struct {
    int32_t lo, hi;
} inside_t;

// Parts of the scratch: the expanded column, two byte columns, the stream of quads unless the room is
// larger.
typedef struct {
    const mz_view_t *view;
    mz_pack_t pack;
    mz_gemm_t gemm;
    uint8_t *column;
    int8_t *bytes;
    uint8_t *stream;
    int32_t weight_bytes, quad_bytes; // of a quad
    int32_t room; // quads that fit
    int32_t bias_room;
    inside_t rows, cols;
    bool words; // rows of a window are whole words
    bool pointwise; // columns are the input as it is
    bool clamps; // a range narrower than int8
} columns_t;

static inside_t inside(int32_t in, int32_t k, int32_t stride, int32_t pad) {
    inside_t range;
    range.lo = (pad + stride - 1) / stride;
    range.hi = in + pad < k ? 0 : (in + pad - k) / stride + 1;
    return range;
}

static MZ_RARE void columns_open(columns_t *s, const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    s->view = view;
    mz_pack_open(&s->pack, view);
    s->column = l->scratch;
    s->bytes = (int8_t *)l->scratch + 4 * l->k4;
    s->stream = l->scratch + 6 * l->k4;
    int32_t stream_len = l->scratch_len - 6 * l->k4;
    if (l->room != NULL && MZ_ROOM_LEN(l) > stream_len) {
        s->stream = l->room;
        stream_len = MZ_ROOM_LEN(l);
    }
    s->weight_bytes = mz_gemm_open(&s->gemm, view, s->column);
    s->pack.planes = s->gemm.planes;
    s->quad_bytes = s->weight_bytes + 4 * (int32_t)sizeof(mz_scale_t);
    s->room = stream_len / s->quad_bytes;
    s->bias_room = mz_bias_room(view);
    s->rows = inside(l->in_h, l->k_h, l->s_h, l->p_t);
    s->cols = inside(l->in_w, l->k_w, l->s_w, l->p_l);
    if (mz_dilated(l)) {
        s->rows.hi = 0; // no window is a run of bytes
    }
    s->words = l->in_c % 4 == 0;
    // With a pad on the right or at the bottom, strides may leave the size as it is.
    s->pointwise = s->words && l->k == l->in_c && l->in_h == l->out_h && l->in_w == l->out_w
        && l->s_h == 1 && l->s_w == 1 && l->p_t == 0 && l->p_l == 0;
    s->clamps = l->act_min > -128 || l->act_max < 127;
    for (int32_t i = l->k; i < l->k4; ++i) {
        s->bytes[i] = -128;
        s->bytes[l->k4 + i] = -128;
    }
}

// Packs the quad of channels from c; false if its outputs need the general code.
static MZ_RARE bool load_quad(const columns_t *s, int32_t c, uint8_t *to, mz_channel_t *channels) {
    const mz_view_t *view = s->view;
    const mz_layer_t *l = view->layer;
    mz_scale_t *scale = (mz_scale_t *)(void *)(to + s->weight_bytes);
    bool fast = c + 4 <= l->out_c && mz_view_fast(view);
    int32_t n = mz_min(4, l->out_c - c);
    mz_channels_load(view, c, n, channels);
    mz_quad_pack(&s->pack, c, n, to);
    for (int32_t i = 0; i < 4; ++i) {
        // A short last quad repeats its last channel; the copies are not stored.
        const mz_channel_t *channel = &channels[mz_min(i, n - 1)];
        int32_t right = -channel->shift;
        fast = fast && mz_channel_fast(channel, s->bias_room);
        scale[i].mult = channel->mult;
        scale[i].right = right;
        scale[i].round = fast ? (1 << (right - 1)) + l->out_zp * (1 << right) : channel->bias;
    }
    for (int32_t i = 0; i < 4; ++i) {
        // Without the fast end the bias is added where the sums go.
        int32_t bias = fast ? channels[i].bias : 0;
        scale[i].bias2 = MZ_BIAS_SCALE * (bias + mz_quad_offset(&s->pack, to, i));
    }
    return fast;
}

// Fills the bytes that a clipped window lacks.
static MZ_BUSY void fill(int8_t *to, int32_t n, int32_t v, bool words) {
    if (words) {
        mz_word_t word = (uint32_t)(v & 255) * 0x01010101u;
        for (int32_t i = n >> 2; i > 0; --i, to += 4) {
            *(mz_word_t *)(void *)to = word;
        }
        return;
    }
    for (int32_t i = 0; i < n; ++i) {
        to[i] = (int8_t)v;
    }
}

static MZ_BUSY void copy(const int8_t *from, int32_t n, int8_t *to, bool words) {
    if (words) {
        for (int32_t i = n >> 2; i > 0; --i, from += 4, to += 4) {
            *(mz_word_t *)(void *)to = *(const mz_word_t *)(const void *)from;
        }
        return;
    }
    for (int32_t i = 0; i < n; ++i) {
        to[i] = from[i];
    }
}

// A window that lies inside the image, as one run of bytes. Its rows mostly are a
// multiple of three: such kernels have few channels, and three columns.
static MZ_BUSY void gather(const mz_layer_t *l, const int8_t *x, int8_t *to) {
    int32_t row = l->k_w * l->in_c;
    int32_t skip = l->in_w * l->in_c - row;
    for (int32_t ky = l->k_h; ky > 0; --ky) {
        int32_t n = row;
        for (; n >= 3; n -= 3) {
            int8_t a = x[0], b = x[1], c = x[2];
            x += 3;
            to[0] = a;
            to[1] = b;
            to[2] = c;
            to += 3;
        }
        for (; n > 0; --n) {
            *to++ = *x++;
        }
        x += skip;
    }
}

// Any window whose cells lie apart, a cell at a time.
static MZ_RARE void gather_dilated(const mz_layer_t *l, int32_t oy, int32_t ox, int8_t *to, bool words) {
    int32_t left = ox * l->s_w - l->p_l;
    int32_t y = oy * l->s_h - l->p_t;
    for (int32_t ky = l->k_h; ky > 0; --ky, y += l->dil_h) {
        int32_t x = left;
        for (int32_t kx = l->k_w; kx > 0; --kx, x += l->dil_w, to += l->in_c) {
            if (mz_within(y, 0, l->in_h - 1) && mz_within(x, 0, l->in_w - 1)) {
                copy(l->in + (y * l->in_w + x) * l->in_c, l->in_c, to, words);
            } else {
                fill(to, l->in_c, l->in_zp, words);
            }
        }
    }
}

// Any window: zero points where it leaves the image.
static MZ_RARE void gather_clipped(const mz_layer_t *l, int32_t oy, int32_t ox, int8_t *to, bool words) {
    if (mz_dilated(l)) {
        gather_dilated(l, oy, ox, to, words);
        return;
    }
    mz_window_t wy = mz_window(oy, l->s_h, l->p_t, l->k_h, l->in_h);
    mz_window_t wx = mz_window(ox, l->s_w, l->p_l, l->k_w, l->in_w);
    int32_t row = l->k_w * l->in_c;
    int32_t left = wx.lo * l->in_c;
    int32_t n = (wx.hi - wx.lo) * l->in_c;
    if (n == 0 || wy.lo == wy.hi) {
        fill(to, l->k, l->in_zp, words);
        return;
    }
    const int8_t *x = l->in + (wy.at * l->in_w + wx.at) * l->in_c;
    fill(to, wy.lo * row, l->in_zp, words);
    to += wy.lo * row;
    for (int32_t ky = wy.lo; ky < wy.hi; ++ky) {
        fill(to, left, l->in_zp, words);
        copy(x, n, to + left, words);
        fill(to + left + n, row - left - n, l->in_zp, words);
        x += l->in_w * l->in_c;
        to += row;
    }
    fill(to, (l->k_h - wy.hi) * row, l->in_zp, words);
}

// The expanded column of position (oy, ox) and, with `both`, of the next one.
static void expand(const columns_t *s, int32_t oy, int32_t ox, int32_t both, int32_t *sums) {
    const mz_layer_t *l = s->view->layer;
    int32_t next = ox + both;
    if (oy >= s->rows.lo && oy < s->rows.hi && ox >= s->cols.lo && next < s->cols.hi) {
        int32_t step = l->in_w * l->in_c;
        const int8_t *x = l->in + (oy * l->s_h - l->p_t) * step + (ox * l->s_w - l->p_l) * l->in_c;
        const int8_t *y = both ? x + l->s_w * l->in_c : x;
        if (s->words) {
            void *column = s->column;
            for (int32_t ky = 0; ky < l->k_h; ++ky) {
                column = mz_column_pair(x, y, l->k_w * l->in_c, l->in_zp, column, sums);
                x += step;
                y += step;
            }
            return;
        }
        gather(l, x, s->bytes);
        gather(l, y, s->bytes + l->k4);
    } else {
        if (next == l->out_w) {
            next = 0;
        }
        gather_clipped(l, oy, ox, s->bytes, s->words);
        gather_clipped(l, next ? oy : oy + both, next, s->bytes + l->k4, s->words);
    }
    mz_column_pair(s->bytes, s->bytes + l->k4, l->k4, l->in_zp, s->column, sums);
}

// What the inner loop leaves to general code: statistics, logits, rare multipliers,
// the last channels.
static MZ_RARE void store_raw(const columns_t *s, int32_t p, int32_t lane, int32_t c,
    const mz_channel_t *channels) {
    int32_t acc[4];
    int32_t n = mz_min(4, s->view->layer->out_c - c);
    for (int32_t i = 0; i < n; ++i) {
        acc[i] = s->gemm.raw[2 * i + lane] + channels[i].bias;
    }
    mz_output(s->view, p + lane, c, n, channels, acc);
}

// Statistics of quads of channels at one position, or two: each is its own run of the inner loop.
static MZ_BUSY void sum_quads(columns_t *s, int32_t c, int32_t quads, const uint8_t *stream, int32_t both) {
    const mz_view_t *view = s->view;
    int64_t *s1 = view->sums + c;
    int64_t *s2 = s1 + view->layer->out_c;
    int32_t left = view->layer->out_c - c;
    int32_t shift = view->sum_shift;
    s->gemm.out = NULL;
    for (; quads > 0; --quads, left -= 4) {
        const int32_t *raw = s->gemm.raw;
        s->gemm.stream = stream;
        mz_gemm(&s->gemm);
        const mz_scale_t *scale = (const mz_scale_t *)(const void *)(stream + s->weight_bytes);
        stream += s->quad_bytes;
        for (int32_t n = mz_min(4, left); n > 0; --n, ++scale, raw += 2, ++s1, ++s2) {
            // Unsigned, because the caller's sums may hold anything.
            uint64_t a = (uint64_t)*s1;
            uint64_t b = (uint64_t)*s2;
            for (int32_t lane = 0; lane <= both; ++lane) {
                int64_t v = (raw[lane] + scale->round) >> shift;
                a += (uint64_t)v;
                b += (uint64_t)(v * v);
            }
            *s1 = (int64_t)a;
            *s2 = (int64_t)b;
        }
    }
}

// All positions of `quads` fast quads, or of those that make statistics, or of one that is neither
// (channels given).
static MZ_BUSY void run(columns_t *s, int32_t c, int32_t quads, uint8_t *stream,
    const mz_channel_t *channels) {
    const mz_layer_t *l = s->view->layer;
    mz_gemm_t *gemm = &s->gemm;
    int32_t points = l->out_h * l->out_w;
    int32_t oy = 0;
    int32_t ox = 0;
    gemm->stream = stream;
    gemm->end = stream + quads * s->quad_bytes;
    for (int32_t p = 0; p < points; p += 2) {
        int32_t both = p + 1 < points;
        int8_t *out = l->out + p * l->out_c + c;
        gemm->sums[0] = 0;
        gemm->sums[1] = 0;
        if (s->pointwise) {
            const int8_t *x = l->in + p * l->in_c;
            mz_column_pair(x, both ? x + l->in_c : x, l->k, l->in_zp, s->column, gemm->sums);
        } else {
            expand(s, oy, ox, both, gemm->sums);
            for (ox += 2; ox >= l->out_w; ox -= l->out_w) {
                ++oy;
            }
        }
        if (s->view->sums != NULL) {
            sum_quads(s, c, quads, stream, both);
            continue;
        }
        gemm->out = channels == NULL ? out : NULL;
        gemm->apart = both * l->out_c - 1;
        mz_gemm(gemm);
        if (channels != NULL) {
            store_raw(s, p, 0, c, channels);
            if (both) {
                store_raw(s, p, 1, c, channels);
            }
        } else if (s->clamps) {
            mz_clamp(l, out, 4 * quads);
            mz_clamp(l, out + both * l->out_c, 4 * quads);
        }
    }
}

void mz_conv_columns(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    columns_t s;
    int32_t raw[8];
    mz_channel_t channels[4];
    columns_open(&s, view);
    s.gemm.raw = raw;
    for (int32_t c = 0; c < l->out_c;) {
        int32_t first = c;
        int32_t quads = 0;
        bool together = true;
        while (together && quads < s.room && c < l->out_c) {
            together = load_quad(&s, c, s.stream + quads * s.quad_bytes, channels) || view->sums != NULL;
            quads += together;
            c += 4;
        }
        if (quads) {
            run(&s, first, quads, s.stream, NULL);
        }
        if (!together) {
            run(&s, c - 4, 1, s.stream + quads * s.quad_bytes, channels);
        }
    }
}

#endif
