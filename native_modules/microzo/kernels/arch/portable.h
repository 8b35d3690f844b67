// Inner loops in plain C.
#ifndef MZ_PORTABLE_H
#define MZ_PORTABLE_H

#include "../rng.h"

// Output channels whose rows are packed together.
#define MZ_TILE 4
// Depthwise channels that share a block of packed weights [tap][MZ_DW_BLOCK].
#define MZ_DW_BLOCK 16

// Whether two positions share the loads of weights: needs about 20 registers.
#if defined(__x86_64__) || defined(__aarch64__)
#define MZ_PAIRS 1
#else
#define MZ_PAIRS 0
#endif

// Depthwise channels held in registers: a core with wide vectors takes the block whole.
#if defined(__x86_64__) || defined(__aarch64__)
#define MZ_DW_LANES 16
#else
#define MZ_DW_LANES 4
#endif

static inline void mz_arch_load8(const int8_t *from, int32_t k, int16_t *to) {
    for (int32_t r = 0; r < k; ++r) {
        to[r] = from[r];
    }
}

static inline void mz_arch_load16(const int16_t *from, int32_t k, int32_t add, int32_t shift,
    int16_t *to) {
    for (int32_t r = 0; r < k; ++r) {
        to[r] = (int16_t)((from[r] + add) >> shift);
    }
}

static inline void mz_arch_perturb(int16_t *w, int32_t k, int32_t eps, mz_stream_t stream,
    uint32_t next) {
    int32_t r = 0;
    for (; r + 32 <= k; r += 32) {
        uint32_t word = mz_word(stream, next++);
        for (int32_t q = 0; q < 8; ++q) {
            int16_t *four = w + r + 4 * q;
            four[0] = (int16_t)(four[0] + eps - 2 * eps * (int32_t)(word & 1));
            four[1] = (int16_t)(four[1] + eps - 2 * eps * (int32_t)((word >> 8) & 1));
            four[2] = (int16_t)(four[2] + eps - 2 * eps * (int32_t)((word >> 16) & 1));
            four[3] = (int16_t)(four[3] + eps - 2 * eps * (int32_t)((word >> 24) & 1));
            word >>= 1;
        }
    }
    if (r < k) {
        uint32_t word = mz_word(stream, next);
        for (; r < k; ++r) {
            w[r] = (int16_t)(w[r] + eps - 2 * eps * mz_sign_bit(word, r));
        }
    }
}

// acc += sums of `rows` segments of n cells, for the MZ_TILE rows of w that lie
// `pitch` apart. The segments of w lie w_step apart, those of x x_step.
static inline void mz_arch_dot(const int16_t *w, int32_t pitch, int32_t w_step, const int8_t *x,
    int32_t x_step, int32_t rows, int32_t n, int32_t zp, int32_t *acc) {
    int32_t a0 = acc[0], a1 = acc[1], a2 = acc[2], a3 = acc[3];
    for (int32_t row = 0; row < rows; ++row) {
        const int16_t *w0 = w;
        const int16_t *w1 = w0 + pitch;
        const int16_t *w2 = w1 + pitch;
        const int16_t *w3 = w2 + pitch;
        for (int32_t i = 0; i < n; ++i) {
            int16_t v = (int16_t)(x[i] - zp);
            a0 += w0[i] * v;
            a1 += w1[i] * v;
            a2 += w2[i] * v;
            a3 += w3[i] * v;
        }
        w += w_step;
        x += x_step;
    }
    acc[0] = a0;
    acc[1] = a1;
    acc[2] = a2;
    acc[3] = a3;
}

// The same for two output positions, whose inputs lie `apart` cells apart: every
// weight that is loaded is used twice. acc: 4 of the first, 4 of the second.
static inline void mz_arch_dot2(const int16_t *w, int32_t pitch, int32_t w_step, const int8_t *x,
    int32_t apart, int32_t x_step, int32_t rows, int32_t n, int32_t zp, int32_t *acc) {
    if (!MZ_PAIRS) {
        mz_arch_dot(w, pitch, w_step, x, x_step, rows, n, zp, acc);
        mz_arch_dot(w, pitch, w_step, x + apart, x_step, rows, n, zp, acc + MZ_TILE);
        return;
    }
    int32_t a0 = acc[0], a1 = acc[1], a2 = acc[2], a3 = acc[3];
    int32_t b0 = acc[4], b1 = acc[5], b2 = acc[6], b3 = acc[7];
    for (int32_t row = 0; row < rows; ++row) {
        const int16_t *w0 = w;
        const int16_t *w1 = w0 + pitch;
        const int16_t *w2 = w1 + pitch;
        const int16_t *w3 = w2 + pitch;
        const int8_t *y = x + apart;
        for (int32_t i = 0; i < n; ++i) {
            int16_t v = (int16_t)(x[i] - zp);
            int16_t u = (int16_t)(y[i] - zp);
            a0 += w0[i] * v;
            b0 += w0[i] * u;
            a1 += w1[i] * v;
            b1 += w1[i] * u;
            a2 += w2[i] * v;
            b2 += w2[i] * u;
            a3 += w3[i] * v;
            b3 += w3[i] * u;
        }
        w += w_step;
        x += x_step;
    }
    acc[0] = a0;
    acc[1] = a1;
    acc[2] = a2;
    acc[3] = a3;
    acc[4] = b0;
    acc[5] = b1;
    acc[6] = b2;
    acc[7] = b3;
}

// acc[0..MZ_DW_LANES-1] += taps of `rows` x `cols` cells of neighbouring channels.
static inline void mz_arch_taps(const int16_t *w, int32_t w_step, const int8_t *x, int32_t x_step,
    int32_t x_pitch, int32_t rows, int32_t cols, int32_t zp, int32_t *acc) {
    int32_t a[MZ_DW_LANES];
    for (int32_t j = 0; j < MZ_DW_LANES; ++j) {
        a[j] = acc[j];
    }
    for (int32_t row = 0; row < rows; ++row) {
        const int8_t *xs = x;
        const int16_t *ws = w;
        for (int32_t col = 0; col < cols; ++col) {
            #pragma GCC unroll 4
            for (int32_t j = 0; j < MZ_DW_LANES; ++j) {
                a[j] += ws[j] * (xs[j] - zp);
            }
            xs += x_pitch;
            ws += MZ_DW_BLOCK;
        }
        x += x_step;
        w += w_step;
    }
    for (int32_t j = 0; j < MZ_DW_LANES; ++j) {
        acc[j] = a[j];
    }
}

// One channel: x cells lie x_pitch apart, weights MZ_DW_BLOCK.
static inline int32_t mz_arch_tap1(const int16_t *w, int32_t w_step, const int8_t *x,
    int32_t x_step, int32_t x_pitch, int32_t rows, int32_t cols, int32_t zp) {
    int32_t acc = 0;
    for (int32_t row = 0; row < rows; ++row) {
        for (int32_t col = 0; col < cols; ++col) {
            acc += w[col * MZ_DW_BLOCK] * (x[col * x_pitch] - zp);
        }
        x += x_step;
        w += w_step;
    }
    return acc;
}

#endif
