// Average and maximum pooling over the cells inside the image.
#include "arch/arch.h"
#include "ops.h"
#include "window.h"

// Half away from zero.
static int32_t divide(int32_t sum, int32_t n) {
    return (sum < 0 ? sum - n / 2 : sum + n / 2) / n;
}

static int32_t average(const int8_t *x, int32_t x_step, int32_t x_pitch, int32_t rows, int32_t cols) {
    int32_t sum = 0;
    for (int32_t row = 0; row < rows; ++row) {
        for (int32_t col = 0; col < cols; ++col) {
            sum += x[col * x_pitch];
        }
        x += x_step;
    }
    return divide(sum, rows * cols);
}

static int32_t maximum(const int8_t *x, int32_t x_step, int32_t x_pitch, int32_t rows, int32_t cols) {
    int32_t best = -128;
    for (int32_t row = 0; row < rows; ++row) {
        for (int32_t col = 0; col < cols; ++col) {
            best = mz_max(best, x[col * x_pitch]);
        }
        x += x_step;
    }
    return best;
}

static MZ_RARE void pool(const mz_layer_t *l, bool averages) {
    int32_t x_step = l->in_w * l->in_c;
    int8_t *out = l->out;
    for (int32_t oy = 0; oy < l->out_h; ++oy) {
        mz_window_t wy = mz_window(oy, l->s_h, l->p_t, l->k_h, l->in_h);
        int32_t rows = wy.hi - wy.lo;
        for (int32_t ox = 0; ox < l->out_w; ++ox) {
            mz_window_t wx = mz_window(ox, l->s_w, l->p_l, l->k_w, l->in_w);
            int32_t cols = wx.hi - wx.lo;
            const int8_t *x = l->in + (wy.at * l->in_w + wx.at) * l->in_c;
            for (int32_t c = 0; c < l->out_c; ++c) {
                int32_t v = averages ? average(x + c, x_step, l->in_c, rows, cols)
                    : maximum(x + c, x_step, l->in_c, rows, cols);
                *out++ = (int8_t)mz_sat(v, l->act_min, l->act_max);
            }
        }
    }
}

#if MZ_WORDS

#if MZ_DSP
#include "arch/dsp.h"
#endif

typedef uint32_t __attribute__((may_alias)) word_t;

// Exact for sums of up to 255 cells: scale is 2^24 / n rounded up.
static inline int32_t divide_by(int32_t sum, int32_t half, uint32_t scale) {
    int32_t sign = sum >> 31;
    uint32_t size = (uint32_t)((sum ^ sign) - sign + half);
    int32_t v = (int32_t)((size * scale) >> 24);
    return (v ^ sign) - sign;
}

// Bytes 0 and 2, or 1 and 3, of v added to the halves of sums.
static inline uint32_t add_bytes(uint32_t sums, uint32_t v) {
#if MZ_DSP
    return mz_uxtab16(sums, v);
#else
    return sums + (v & 0x00ff00ff);
#endif
}

static inline uint32_t add_bytes_8(uint32_t sums, uint32_t v) {
#if MZ_DSP
    return mz_uxtab16_8(sums, v);
#else
    return sums + ((v >> 8) & 0x00ff00ff);
#endif
}

// One output position; sums of x + 128, two in a word.
static void average_cell(const mz_layer_t *l, const int8_t *x, int32_t rows, int32_t cols,
    uint32_t scale, int8_t *out) {
    int32_t pitch = l->in_c;
    int32_t step = l->in_w * pitch - cols * pitch;
    int32_t lo = l->act_min;
    int32_t hi = l->act_max;
    bool clamps = lo > -128 || hi < 127;
    int32_t offset = 128 * rows * cols;
    int32_t half = rows * cols / 2;
    for (int8_t *end = out + l->out_c; out != end; out += 4, x += 4) {
        const int8_t *at = x;
        uint32_t even = 0, odd = 0;
        for (int32_t row = rows; row > 0; --row, at += step) {
            for (int32_t col = cols; col > 0; --col, at += pitch) {
                uint32_t v = *(const word_t *)(const void *)at ^ 0x80808080u;
                even = add_bytes(even, v);
                odd = add_bytes_8(odd, v);
            }
        }
        int32_t a = divide_by((int32_t)(even & 0xffff) - offset, half, scale);
        int32_t b = divide_by((int32_t)(odd & 0xffff) - offset, half, scale);
        int32_t c = divide_by((int32_t)(even >> 16) - offset, half, scale);
        int32_t d = divide_by((int32_t)(odd >> 16) - offset, half, scale);
        if (clamps) {
            a = mz_sat(a, lo, hi);
            b = mz_sat(b, lo, hi);
            c = mz_sat(c, lo, hi);
            d = mz_sat(d, lo, hi);
        }
        out[0] = (int8_t)a;
        out[1] = (int8_t)b;
        out[2] = (int8_t)c;
        out[3] = (int8_t)d;
    }
}

static void average_words(const mz_layer_t *l) {
    int8_t *out = l->out;
    uint32_t scale = 0;
    int32_t scaled = 0;
    for (int32_t oy = 0; oy < l->out_h; ++oy) {
        mz_window_t wy = mz_window(oy, l->s_h, l->p_t, l->k_h, l->in_h);
        int32_t rows = wy.hi - wy.lo;
        for (int32_t ox = 0; ox < l->out_w; ++ox) {
            mz_window_t wx = mz_window(ox, l->s_w, l->p_l, l->k_w, l->in_w);
            int32_t cols = wx.hi - wx.lo;
            if (scaled != rows * cols) {
                scaled = rows * cols;
                scale = ((1u << 24) + (uint32_t)scaled - 1) / (uint32_t)scaled;
            }
            average_cell(l, l->in + (wy.at * l->in_w + wx.at) * l->in_c, rows, cols, scale, out);
            out += l->out_c;
        }
    }
}

#endif

void mz_avgpool(const mz_layer_t *layer) {
#if MZ_WORDS
    if (layer->in_c % 4 == 0 && layer->k_h * layer->k_w < 256) {
        average_words(layer);
        return;
    }
#endif
    pool(layer, true);
}

void mz_maxpool(const mz_layer_t *layer) {
    pool(layer, false);
}
