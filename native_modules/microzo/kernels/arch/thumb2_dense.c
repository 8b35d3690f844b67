// Dense layers in Thumb-2: rows of weights are used as they lie in memory.
#include "arch.h"

#if MZ_THUMB2

#include "../dense.h"
#if MZ_DSP
#include "dsp.h"
#endif

#define UNROLL 4 // groups of inputs in a round

// A group is four inputs, without DSP one. Bytes of code for a group:
#if MZ_DSP
#define GROUP 4
static const uint8_t group_code[] = {21 * 4, 29 * 4, 21 * 4};
#define LOAD_INPUTS "    ldrd r9, r10, [r0], #8\n"
#define INT8_ROW \
    "    ldr r11, [\\from], #4\n" \
    "    sxtb16 r12, r11\n" \
    "    sxtb16 r11, r11, ror #8\n" \
    "    smlad \\sum, r12, r9, \\sum\n" \
    "    smlad \\sum, r11, r10, \\sum\n"
#define MASTER_ROW \
    "    ldrd r11, r12, [\\from], #8\n" \
    "    sadd16 r11, r11, lr\n" \
    "    sadd16 r12, r12, lr\n" \
    "    sxtb16 r11, r11, ror #8\n" \
    "    sxtb16 r12, r12, ror #8\n" \
    "    smlad \\sum, r11, r9, \\sum\n" \
    "    smlad \\sum, r12, r10, \\sum\n"
#define WIDE_ROW \
    "    ldrd r11, r12, [\\from], #8\n" \
    "    and r11, lr\n" \
    "    and r12, lr\n" \
    "    smlad \\sum, r11, r9, \\sum\n" \
    "    smlad \\sum, r12, r10, \\sum\n"
#else
#define GROUP 1
static const uint8_t group_code[] = {9 * 4, 17 * 4, 13 * 4};
#define LOAD_INPUTS "    ldrsh r9, [r0], #2\n"
#define INT8_ROW \
    "    ldrsb r11, [\\from], #1\n" \
    "    mla \\sum, r11, r9, \\sum\n"
#define MASTER_ROW \
    "    ldrsh r11, [\\from], #2\n" \
    "    add.w r11, r11, #128\n" \
    "    asr.w r11, r11, #8\n" \
    "    mla \\sum, r11, r9, \\sum\n"
#define WIDE_ROW \
    "    ldrsh r11, [\\from], #2\n" \
    "    and.w r11, r11, lr\n" \
    "    mla \\sum, r11, r9, \\sum\n"
#endif

#define STRING(x) STRING_(x)
#define STRING_(x) #x

// r0 input, r1..r4 rows, r5..r8 sums, r9 r10 inputs, r11 r12 weights, lr a constant. On the stack: the struct, the end of the input, where to enter the loop.
#define DOT4(group) \
    ".syntax unified\n" \
    group \
    ".macro mz_group\n" \
    LOAD_INPUTS \
    "    mz_row r1, r5\n" \
    "    mz_row r2, r6\n" \
    "    mz_row r3, r7\n" \
    "    mz_row r4, r8\n" \
    ".endm\n" \
    "    push {r0, r4-r11, lr}\n" \
    "    add r12, r0, #36\n" \
    "    ldm r12, {r9, r10, lr}\n" \
    "    adr r11, 1f\n" \
    "    add r10, r11\n" \
    "    orr r10, r10, #1\n" \
    "    push {r9}\n" \
    "    ldm r0, {r0-r8}\n" \
    "    bx r10\n" \
    "    .balign 4\n" \
    "1:\n" \
    "    .rept " STRING(UNROLL) "\n" \
    "    mz_group\n" \
    "    .endr\n" \
    "    ldr r12, [sp]\n" \
    "    cmp r0, r12\n" \
    "    bne 1b\n" \
    "    pop {r9, r12}\n" \
    "    add r12, r12, #20\n" \
    "    stm r12, {r5-r8}\n" \
    "    pop {r4-r11, pc}\n" \
    ".purgem mz_row\n" \
    ".purgem mz_group\n"

__attribute__((naked, noinline)) void mz_dot4_int8(mz_dot4_t *dot) {
    __asm volatile (DOT4(".macro mz_row from:req, sum:req\n" INT8_ROW ".endm\n"));
}

__attribute__((naked, noinline)) void mz_dot4_master(mz_dot4_t *dot) {
    __asm volatile (DOT4(".macro mz_row from:req, sum:req\n" MASTER_ROW ".endm\n"));
}

__attribute__((naked, noinline)) void mz_dot4_wide(mz_dot4_t *dot) {
    __asm volatile (DOT4(".macro mz_row from:req, sum:req\n" WIDE_ROW ".endm\n"));
}

void mz_dot4_range(mz_dot4_t *dot, int kind, const void *x, int32_t begin, int32_t end) {
    uint32_t rest = (uint32_t)(end - begin) / GROUP % UNROLL;
    dot->x = (const uint8_t *)x + 2 * begin;
    dot->x_end = (const uint8_t *)x + 2 * end;
    dot->skip = rest ? (UNROLL - rest) * group_code[kind] : 0;
    if (kind == MZ_ROWS_MASTER) {
        dot->mask = 0x00800080; // the rounding
    }
}

#if MZ_DSP

static inline void put_four(uint32_t v, uint32_t add, int kind, mz_word_t *to) {
    uint32_t a = mz_sxtab16(add, v);
    uint32_t b = mz_sxtab16_8(add, v);
    to[0] = kind == MZ_ROWS_INT8 ? a : mz_pkhbt_16(a, b);
    to[1] = kind == MZ_ROWS_INT8 ? b : mz_pkhtb_16(b, a);
}

void mz_dense_expand(const mz_layer_t *l, int kind, void *expanded) {
    const mz_word_t *from = (const mz_word_t *)(const void *)l->in;
    const mz_word_t *end = from + l->k / 4;
    mz_word_t *to = expanded;
    uint32_t add = mz_both(-l->in_zp);
    if (kind == MZ_ROWS_INT8) {
        for (; from != end; to += 2) {
            put_four(*from++, add, MZ_ROWS_INT8, to);
        }
    } else {
        for (; from != end; to += 2) {
            put_four(*from++, add, MZ_ROWS_MASTER, to);
        }
    }
    if (l->k != l->k4) {
        uint32_t v = 0;
        for (int32_t i = l->k4 - 1; i >= l->k4 - 4; --i) {
            v = (v << 8) | (uint8_t)(i < l->k ? l->in[i] : l->in_zp);
        }
        put_four(v, add, kind, to);
    }
}

int32_t mz_signs_bytes(int32_t k) {
    return (k + 31) & ~31;
}

// x + 128 as bytes, zeros up to whole words of signs.
void mz_signs_open(mz_signs_t *signs, const mz_view_t *view, void *data) {
    const mz_layer_t *l = view->layer;
    const mz_word_t *from = (const mz_word_t *)(const void *)l->in;
    mz_word_t *to = data;
    uint8_t *bytes = data;
    uint32_t sum = 0;
    signs->layer = l;
    signs->stream = view->weight_stream;
    signs->words = (int32_t)mz_row_words(l->k);
    signs->data = data;
    for (const mz_word_t *end = from + l->k / 4; from != end; ++from) {
        uint32_t v = *from ^ 0x80808080u;
        *to++ = v;
        __asm ("usada8 %0, %1, %2, %0" : "+r" (sum) : "r" (v), "r" (0));
    }
    for (int32_t i = l->k & ~3; i < mz_signs_bytes(l->k); ++i) {
        bytes[i] = i < l->k ? (uint8_t)(l->in[i] + 128) : 0;
        sum += bytes[i];
    }
    signs->total = (int32_t)sum - (128 + l->in_zp) * l->k;
    signs->last_mask = 0;
    for (int32_t r = (l->k - 1) & ~31; l->in_zp != -128 && r < l->k; ++r) {
        signs->last_mask |= 1u << (((r & 31) >> 2) + ((r & 3) << 3));
    }
}

// One step of a row: the top bit of each byte of the sign word chooses its input or 0,
// and leaves the word.
#define STEP(s, sum) \
    __asm ( \
        "uadd8 %0, %0, %0\n" \
        "sel r12, %2, %3\n" \
        "usada8 %1, r12, %3, %1\n" \
        : "+r" (s), "+r" (sum) : "r" (x), "r" (0) : "r12", "cc")

static uint32_t ones(uint32_t v) {
    v -= (v >> 1) & 0x55555555;
    v = (v & 0x33333333) + ((v >> 2) & 0x33333333);
    v = (v + (v >> 4)) & 0x0f0f0f0f;
    return (v * 0x01010101) >> 24;
}

// All inputs less twice those of sign -1. Those are summed as x + 128, which is too much
// by 128 + zp for each: with a zero point of -128 they need not be counted.
void mz_signs_four(const mz_signs_t *signs, int32_t c, int32_t *sum) {
    const mz_word_t *from = signs->data;
    uint32_t n = (uint32_t)signs->words;
    uint32_t next = (uint32_t)c * n;
    int32_t excess = 128 + signs->layer->in_zp;
    uint32_t m0 = 0, m1 = 0, m2 = 0, m3 = 0;
    uint32_t counts[4] = {0, 0, 0, 0};
    for (uint32_t i = 0; i < n; ++i, ++next) {
        uint32_t s0 = mz_word(signs->stream, next);
        uint32_t s1 = mz_word(signs->stream, next + n);
        uint32_t s2 = mz_word(signs->stream, next + 2 * n);
        uint32_t s3 = mz_word(signs->stream, next + 3 * n);
        if (excess) {
            uint32_t mask = i + 1 < n ? 0xffffffff : signs->last_mask;
            counts[0] += ones(s0 & mask);
            counts[1] += ones(s1 & mask);
            counts[2] += ones(s2 & mask);
            counts[3] += ones(s3 & mask);
        }
        #pragma GCC unroll 8
        for (int q = 7; q >= 0; --q) {
            uint32_t x = from[q];
            STEP(s0, m0);
            STEP(s1, m1);
            STEP(s2, m2);
            STEP(s3, m3);
        }
        from += 8;
    }
    sum[0] = signs->total - 2 * ((int32_t)m0 - excess * (int32_t)counts[0]);
    sum[1] = signs->total - 2 * ((int32_t)m1 - excess * (int32_t)counts[1]);
    sum[2] = signs->total - 2 * ((int32_t)m2 - excess * (int32_t)counts[2]);
    sum[3] = signs->total - 2 * ((int32_t)m3 - excess * (int32_t)counts[3]);
}

#else

void mz_dense_expand(const mz_layer_t *l, int kind, void *expanded) {
    int16_t *to = expanded;
    int32_t zp = l->in_zp;
    (void)kind;
    for (int32_t i = 0; i < l->k; ++i) {
        to[i] = (int16_t)(l->in[i] - zp);
    }
    for (int32_t i = l->k; i < l->k4; ++i) {
        to[i] = 0;
    }
}

#endif

#endif
