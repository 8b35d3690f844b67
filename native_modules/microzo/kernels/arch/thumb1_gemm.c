// The inner loop of convolutions for Cortex-M0+. Weights of two channels share a word, both
// plus 128, and inputs are bytes, plus 128: one product holds two, which do not meet.
#include "arch.h"

#if MZ_THUMB1

#include "../columns.h"
#include "thumb1.h"

#define UNROLL 16 // inputs in a round
#define STEP_CODE 22

typedef uint32_t __attribute__((may_alias)) word_t;

// One plane of bytes holds weights of -128..129 plus 128. Others are split: the upper byte
// plus 128, and the lower one.
int32_t mz_gemm_open(mz_gemm_t *gemm, const mz_view_t *view, const void *column) {
    int32_t k4 = view->layer->k4;
    uint32_t rest = (uint32_t)k4 % UNROLL;
    gemm->skip = rest ? UNROLL - rest : 0;
    gemm->column = column;
    gemm->column_end = (const uint8_t *)column + 2 * k4;
    gemm->planes = view->wide || view->eps < -1 || view->eps > 1 ? 2 : 1;
    return 8 * k4 * gemm->planes;
}

// Sums of two channels at two positions: sums[0..3] = channel 0 at both, channel 1 at both.
// r0 weights, r1 column, r2 r3 and r4 r5: sums of whole products and of their upper halves,
// r6 a word of weights, r7 an input. `skip` inputs of the first round do not exist.
__attribute__((naked, noinline)) static void two_channels(const word_t *weights, const uint8_t *column,
    const uint8_t *end, uint32_t skip, int32_t *sums) {
    __asm volatile (
        ".syntax unified\n"
        ".macro mz_step n:req\n"
        "    ldr r6, [r0, #4 * \\n]\n"
        "    ldrb r7, [r1, #2 * \\n]\n"
        "    muls r7, r6, r7\n"
        "    adds r2, r2, r7\n"
        "    lsrs r7, r7, #16\n"
        "    adds r3, r3, r7\n"
        "    ldrb r7, [r1, #2 * \\n + 1]\n"
        "    muls r7, r6, r7\n"
        "    adds r4, r4, r7\n"
        "    lsrs r7, r7, #16\n"
        "    adds r5, r5, r7\n"
        ".endm\n"
        "    push {r4-r7, lr}\n"
        "    mov r12, r2\n"
        // Both pointers go back to where a whole round would begin.
        "    lsls r7, r3, #1\n"
        "    subs r1, r1, r7\n"
        "    lsls r7, r7, #1\n"
        "    subs r0, r0, r7\n"
        "    movs r6, #22\n"
        "    muls r3, r6, r3\n"
        "    adr r6, 1f\n"
        "    adds r6, r6, r3\n"
        "    adds r6, #1\n"
        "    movs r2, #0\n"
        "    movs r3, #0\n"
        "    movs r4, #0\n"
        "    movs r5, #0\n"
        "    bx r6\n"
        "    .balign 4\n"
        "1:\n"
        "    mz_step 0\n"
        "    mz_step 1\n"
        "    mz_step 2\n"
        "    mz_step 3\n"
        "    mz_step 4\n"
        "    mz_step 5\n"
        "    mz_step 6\n"
        "    mz_step 7\n"
        "    mz_step 8\n"
        "    mz_step 9\n"
        "    mz_step 10\n"
        "    mz_step 11\n"
        "    mz_step 12\n"
        "    mz_step 13\n"
        "    mz_step 14\n"
        "    mz_step 15\n"
        "    adds r0, #64\n"
        "    adds r1, #32\n"
        "    cmp r1, r12\n"
        "    beq 2f\n"
        "    b 1b\n"
        "2:\n"
        // The lower sum is what the upper one leaves.
        "    lsls r6, r3, #16\n"
        "    subs r2, r2, r6\n"
        "    lsls r6, r5, #16\n"
        "    subs r4, r4, r6\n"
        "    ldr r6, [sp, #20]\n"
        "    str r2, [r6, #0]\n"
        "    str r4, [r6, #4]\n"
        "    str r3, [r6, #8]\n"
        "    str r5, [r6, #12]\n"
        "    pop {r4-r7, pc}\n"
        ".purgem mz_step\n"
    );
}

typedef uint16_t __attribute__((may_alias)) half_t;

// The multiplier, not negative, as two halfwords: a load each.
static inline const half_t *halves(const mz_scale_t *scale) {
    return (const half_t *)(const void *)&scale->mult;
}

// A sum with its bias, without what the offsets of weights and inputs add.
static inline int32_t less(int32_t sum, const mz_scale_t *scale, uint32_t offset) {
    return (int32_t)((uint32_t)sum + (uint32_t)scale->bias2 - offset);
}

void mz_gemm(const mz_gemm_t *gemm) {
    const uint8_t *column = gemm->column;
    const uint8_t *column_end = gemm->column_end;
    int32_t k4 = (int32_t)(column_end - column) / 2;
    const word_t *stream = gemm->stream;
    // Modulo 2^32, like all sums here: what comes out in the end fits.
    uint32_t first = 128 * (uint32_t)gemm->sums[0];
    uint32_t second = 128 * (uint32_t)gemm->sums[1];
    int8_t *out = gemm->out;
    int8_t *other = out + gemm->apart + 1;
    int32_t sums[8];
    if (gemm->planes == 2) {
        first *= 256;
        second *= 256;
    }
    while (stream != gemm->end) {
        two_channels(stream, column, column_end, gemm->skip, sums);
        stream += k4;
        two_channels(stream, column, column_end, gemm->skip, sums + 4);
        stream += k4;
        if (gemm->planes == 2) {
            int32_t low[8];
            two_channels(stream, column, column_end, gemm->skip, low);
            stream += k4;
            two_channels(stream, column, column_end, gemm->skip, low + 4);
            stream += k4;
            for (int32_t i = 0; i < 8; ++i) {
                sums[i] = (int32_t)(((uint32_t)sums[i] << 8) + (uint32_t)low[i]);
            }
        }
        const mz_scale_t *scale = (const mz_scale_t *)(const void *)stream;
        if (out == NULL) {
            for (int32_t i = 0; i < 4; ++i, ++scale) {
                gemm->raw[2 * i] = less(sums[2 * i], scale, first);
                gemm->raw[2 * i + 1] = less(sums[2 * i + 1], scale, second);
            }
            return; // one quad is wanted then
        }
        for (const int32_t *sum = sums; sum != sums + 8; sum += 2, ++scale) {
            int32_t low = halves(scale)[0];
            int32_t high = halves(scale)[1];
            int32_t a = less(sum[0], scale, first);
            int32_t b = less(sum[1], scale, second);
            *out++ = (int8_t)mz_scaled(a, low, high, scale->round, scale->right);
            *other++ = (int8_t)mz_scaled(b, low, high, scale->round, scale->right);
        }
        stream = (const word_t *)(const void *)scale;
    }
}

// Cells 0, 2, 1, 3 of each four, x and y by turns.
void *mz_column_pair(const int8_t *x, const int8_t *y, int32_t n, int32_t zp, void *column,
    int32_t *sums) {
    const word_t *from = (const word_t *)(const void *)x;
    const word_t *other = (const word_t *)(const void *)y;
    word_t *to = column;
    uint32_t even = 0x00ff00ff;
    uint32_t flip = 0x80808080;
    uint32_t a = 0, b = 0;
    (void)zp;
    for (word_t *end = to + n / 2; to != end; to += 2) {
        uint32_t v = *from++ ^ flip;
        uint32_t u = *other++ ^ flip;
        uint32_t v0 = v & even;
        uint32_t v1 = (v >> 8) & even;
        uint32_t u0 = u & even;
        uint32_t u1 = (u >> 8) & even;
        to[0] = v0 | u0 << 8;
        to[1] = v1 | u1 << 8;
        a += v0 + v1;
        b += u0 + u1;
        if ((a | b) & 0x80008000u) {
            // Before the halves overflow.
            sums[0] += (int32_t)((a & 0xffff) + (a >> 16));
            sums[1] += (int32_t)((b & 0xffff) + (b >> 16));
            a = b = 0;
        }
    }
    sums[0] += (int32_t)((a & 0xffff) + (a >> 16));
    sums[1] += (int32_t)((b & 0xffff) + (b >> 16));
    return to;
}

static uint32_t sum_plane(const uint16_t *w, int32_t k4) {
    uint32_t sum = 0;
    for (int32_t k = 0; k < k4; ++k) {
        sum += *w;
        w += 2;
    }
    return sum;
}

// With W = w + 128, X = x + 128, Z = zp + 128: sum w (x - zp) = sum W X - 128 sum X
// - Z (sum W - 128 K). With two planes the same holds for the upper bytes, times 256.
int32_t mz_quad_offset(const mz_pack_t *pack, const void *weights, int32_t i) {
    const mz_layer_t *l = pack->view->layer;
    uint32_t z = (uint32_t)(l->in_zp + 128);
    if (z == 0) {
        return 0;
    }
    const uint16_t *w = (const uint16_t *)weights + (i >> 1) * 2 * l->k4 + (i & 1);
    uint32_t sum = sum_plane(w, l->k4) - 128 * (uint32_t)l->k;
    if (pack->planes == 2) {
        sum = (sum << 8) + sum_plane(w + 4 * l->k4, l->k4);
    }
    return (int32_t)(0 - z * sum);
}

// Splits a packed row into its planes, cells 0, 2, 1, 3 of each four.
static void split_row(const int16_t *from, int32_t k, uint16_t *to, uint16_t *low) {
    for (int32_t i = 0; i < k; ++i) {
        int32_t at = 2 * ((i & ~3) | (i & 1) << 1 | (i & 2) >> 1);
        to[at] = (uint16_t)((from[i] >> 8) + 128);
        low[at] = (uint16_t)(from[i] & 255);
    }
    for (int32_t i = k; i & 3; ++i) {
        int32_t at = 2 * ((i & ~3) | (i & 1) << 1 | (i & 2) >> 1);
        to[at] = 0;
        low[at] = 0;
    }
}

void mz_quad_pack(const mz_pack_t *pack, int32_t first, int32_t n, void *weights) {
    const mz_layer_t *l = pack->view->layer;
    mz_pack_t spread = *pack;
    int32_t k4 = l->k4;
    if (pack->planes == 1) {
        spread.base += 128;
        spread.step = 8;
    }
    for (int32_t i = 0; i < 4; ++i) {
        int32_t row = first + mz_min(i, n - 1);
        uint16_t *to = (uint16_t *)weights + (i >> 1) * 2 * k4 + (i & 1);
        if (pack->planes == 1) {
            mz_pack_spread(&spread, row, (int16_t *)to, 4, 2, 6);
        } else {
            // The column is not in use yet.
            int16_t *packed = (int16_t *)(void *)l->scratch;
            mz_pack_row(pack->view, row, packed);
            split_row(packed, l->k, to, to + 4 * k4);
        }
    }
}

#endif
