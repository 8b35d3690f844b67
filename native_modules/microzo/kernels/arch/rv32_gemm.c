// The inner loop of convolutions in C for RISC-V: four channels at two positions in registers, 22
// instructions for 8 multiplications. Words of two weights would save loads, but cost as much again.
#include "arch.h"

#if MZ_RV32

#include "../columns.h"

int32_t mz_quad_offset(const mz_pack_t *pack, const void *weights, int32_t i) {
    (void)pack;
    (void)weights;
    (void)i;
    return 0;
}

int32_t mz_gemm_open(mz_gemm_t *gemm, const mz_view_t *view, const void *column) {
    int32_t k4 = view->layer->k4;
    gemm->planes = 1;
    gemm->column = column;
    gemm->column_end = (const uint8_t *)column + 4 * k4;
    return 8 * k4;
}

void mz_quad_pack(const mz_pack_t *pack, int32_t first, int32_t n, void *weights) {
    for (int32_t i = 0; i < 4; ++i) {
        mz_pack_spread(pack, first + mz_min(i, n - 1), (int16_t *)weights + i, 4, 8, 12);
    }
}

void *mz_column_pair(const int8_t *x, const int8_t *y, int32_t n, int32_t zp, void *column, int32_t *sums) {
    (void)sums;
    int16_t *to = column;
    for (int16_t *end = to + 2 * n; to != end; to += 8, x += 4, y += 4) {
        to[0] = (int16_t)(x[0] - zp);
        to[1] = (int16_t)(y[0] - zp);
        to[2] = (int16_t)(x[1] - zp);
        to[3] = (int16_t)(y[1] - zp);
        to[4] = (int16_t)(x[2] - zp);
        to[5] = (int16_t)(y[2] - zp);
        to[6] = (int16_t)(x[3] - zp);
        to[7] = (int16_t)(y[3] - zp);
    }
    return to;
}

// Input i of the next ones at both positions. The loads of a step may not move before the step
// that comes first: all of them at once would not fit in the registers.
#define STEP(i) \
    do { \
        int32_t u = x[2 * (i)]; \
        int32_t v = x[2 * (i) + 1]; \
        int32_t p = w[4 * (i)]; \
        int32_t q = w[4 * (i) + 1]; \
        int32_t r = w[4 * (i) + 2]; \
        int32_t s = w[4 * (i) + 3]; \
        a0 += p * u; \
        b0 += p * v; \
        a1 += q * u; \
        b1 += q * v; \
        a2 += r * u; \
        b2 += r * v; \
        a3 += s * u; \
        b3 += s * v; \
        __asm ("" : "+r" (w), "+r" (x), "+r" (a3), "+r" (b3)); \
    } while (0)

static inline int8_t output(int32_t sum, const mz_scale_t *scale) {
    int32_t acc2 = scale->bias2 + 2 * sum;
    int64_t p = (int64_t)acc2 * scale->mult;
    int32_t v = (int32_t)(p >> 32) + (int32_t)((uint32_t)p >> 31);
    return (int8_t)mz_sat8((v + (v >> 31) + scale->round) >> scale->right);
}

void mz_gemm(const mz_gemm_t *gemm) {
    const int16_t *w = gemm->stream;
    const int16_t *end = gemm->column_end;
    int8_t *out = gemm->out;
    do {
        const int16_t *x = gemm->column;
        int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0; // four channels at the first position
        int32_t b0 = 0, b1 = 0, b2 = 0, b3 = 0; // and at the second
        do {
            STEP(0);
            STEP(1);
            STEP(2);
            STEP(3);
            w += 16;
            x += 8;
        } while (x != end);
        const mz_scale_t *scale = (const mz_scale_t *)(const void *)w;
        if (out == NULL) {
            int32_t *raw = gemm->raw;
            raw[0] = a0;
            raw[1] = b0;
            raw[2] = a1;
            raw[3] = b1;
            raw[4] = a2;
            raw[5] = b2;
            raw[6] = a3;
            raw[7] = b3;
            return;
        }
        int8_t *other = out + gemm->apart + 1;
        out[0] = output(a0, scale);
        out[1] = output(a1, scale + 1);
        out[2] = output(a2, scale + 2);
        out[3] = output(a3, scale + 3);
        other[0] = output(b0, scale);
        other[1] = output(b1, scale + 1);
        other[2] = output(b2, scale + 2);
        other[3] = output(b3, scale + 3);
        out += 4;
        w = (const int16_t *)(const void *)(scale + 4);
    } while (w != gemm->end);
}

#endif
