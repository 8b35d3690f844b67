// Dense layers in Thumb-2: rows of weights are used as they lie in memory.
#include "arch.h"

#if MZ_THUMB2

#include "../dense.h"
#if MZ_DSP
#include "dsp.h"
#endif

#define STRING(x) STRING_(x)
#define STRING_(x) #x

#if MZ_DSP

// Bytes of code for a round of eight inputs, and of what takes four before the loop.
static const uint8_t round_code[] = {19 * 4, 27 * 4, 19 * 4};
static const uint8_t four_code[] = {12 * 4, 16 * 4, 12 * 4};
#define UNROLL 2

// The inner loop of a kind, which begins at `label`; before it what takes the first four of an odd
// number of fours.
#define LOOP(label, row4, row8, check) \
    ".macro mz_four from:req, sum:req\n" \
    row4 \
    ".endm\n" \
    ".macro mz_eight from:req, sum:req\n" \
    row8 \
    ".endm\n" \
    "    .balign 4\n" \
    "    ldrd r7, r8, [r0], #8\n" \
    "    mz_four r1, r3\n" \
    "    mz_four r2, r4\n" \
    "    bx r6\n" \
    "    .balign 4\n" \
    label ":\n" \
    "    .rept " STRING(UNROLL) "\n" \
    "    ldm.w r0!, {r5-r8}\n" \
    "    mz_eight r1, r3\n" \
    "    mz_eight r2, r4\n" \
    "    .endr\n" \
    check \
    "    cmp r0, r12\n" \
    "    bne.w " label "b\n" \
    ".purgem mz_four\n" \
    ".purgem mz_eight\n"

// Two rows at a time: r0 input, r1 r2 rows, r3 r4 sums, r5..r8 inputs, r9..r12 weights, lr a
// constant. On the stack: the input, rows to go, where their sums go, pitch, the loop's two
// entries, the end of the input. The last row is repeated if it has no second one.
__attribute__((naked, noinline)) void mz_dot(const mz_dot_t *dot, int32_t n, int32_t *sums) {
    __asm volatile (
        ".syntax unified\n"
        "    push {r4-r11, lr}\n"
        "    ldm r0, {r3-r10}\n"
        "    mov lr, r6\n"
        "    adr.w r6, 1f\n"
        "    cmp r10, #1\n"
        "    it eq\n"
        "    adreq.w r6, 2f\n"
        "    it gt\n"
        "    adrgt.w r6, 3f\n"
        "    add r7, r6\n"
        "    add r8, r6\n"
        "    mov r0, r3\n"
        "    push {r0-r2, r5, r7, r8, r9}\n"
        "    mov r2, r4\n"
        "4:\n"
        "    ldrd r0, r3, [sp]\n"
        "    ldrd r4, r6, [sp, #12]\n"
        "    ldrd r7, r12, [sp, #20]\n"
        "    mov r1, r2\n"
        "    subs r3, #2\n"
        "    it ge\n"
        "    addge r2, r4\n"
        "    str r3, [sp, #4]\n"
        "    movs r3, #0\n"
        "    movs r4, #0\n"
        "    bx r7\n"
        LOOP("1",
        "    ldr.w r9, [\\from], #4\n"
        "    sxtb16 r11, r9\n"
        "    sxtb16 r9, r9, ror #8\n"
        "    smlad \\sum, r11, r7, \\sum\n"
        "    smlad \\sum, r9, r8, \\sum\n",
        "    ldrd r9, r10, [\\from], #8\n"
        "    sxtb16 r11, r9\n"
        "    sxtb16 r9, r9, ror #8\n"
        "    smlad \\sum, r11, r5, \\sum\n"
        "    sxtb16 r11, r10\n"
        "    smlad \\sum, r9, r6, \\sum\n"
        "    sxtb16 r10, r10, ror #8\n"
        "    smlad \\sum, r11, r7, \\sum\n"
        "    smlad \\sum, r10, r8, \\sum\n",
        "")
        "5:\n"
        "    ldrd r5, r6, [sp, #4]\n"
        "    strd r3, r4, [r6], #8\n"
        "    str r6, [sp, #8]\n"
        "    cmp r5, #0\n"
        "    bgt 4b\n"
        "    add sp, #28\n"
        "    pop {r4-r11, pc}\n"
        LOOP("2",
        "    ldrd r11, r12, [\\from], #8\n"
        "    sadd16 r11, r11, lr\n"
        "    sadd16 r12, r12, lr\n"
        "    sxtb16 r11, r11, ror #8\n"
        "    sxtb16 r12, r12, ror #8\n"
        "    smlad \\sum, r11, r7, \\sum\n"
        "    smlad \\sum, r12, r8, \\sum\n",
        "    ldm.w \\from!, {r9-r12}\n"
        "    .irp w, r9, r10, r11, r12\n"
        "    sadd16 \\w, \\w, lr\n"
        "    .endr\n"
        "    .irp w, r9, r10, r11, r12\n"
        "    sxtb16 \\w, \\w, ror #8\n"
        "    .endr\n"
        "    smlad \\sum, r9, r5, \\sum\n"
        "    smlad \\sum, r10, r6, \\sum\n"
        "    smlad \\sum, r11, r7, \\sum\n"
        "    smlad \\sum, r12, r8, \\sum\n",
        "    ldr r12, [sp, #24]\n")
        "    b 5b\n"
        LOOP("3",
        "    ldrd r11, r12, [\\from], #8\n"
        "    and.w r11, r11, lr\n"
        "    and.w r12, r12, lr\n"
        "    smlad \\sum, r11, r7, \\sum\n"
        "    smlad \\sum, r12, r8, \\sum\n",
        "    ldm.w \\from!, {r9-r12}\n"
        "    .irp w, r9, r10, r11, r12\n"
        "    and.w \\w, \\w, lr\n"
        "    .endr\n"
        "    smlad \\sum, r9, r5, \\sum\n"
        "    smlad \\sum, r10, r6, \\sum\n"
        "    smlad \\sum, r11, r7, \\sum\n"
        "    smlad \\sum, r12, r8, \\sum\n",
        "    ldr r12, [sp, #24]\n")
        "    b 5b\n"
    );
}

// r0 and r2 the inputs, r1 the row, r3 r4 sums, r5..r8 inputs, r9..r12 weights, lr the rounding of
// masters, else the end of the first input. On the stack: second input, rows to go, first input, its end, kind, where the sums go.
__attribute__((naked, noinline)) void mz_dot_two(const mz_dot_t *dot, const void *y, int32_t n, int32_t *sums) {
    __asm volatile (
        ".syntax unified\n"
        ".macro mz_add x:req, sum:req, a:req, b:req, c:req, d:req\n"
        "    ldm.w \\x!, {r5-r8}\n"
        "    smlad \\sum, \\a, r5, \\sum\n"
        "    smlad \\sum, \\b, r6, \\sum\n"
        "    smlad \\sum, \\c, r7, \\sum\n"
        "    smlad \\sum, \\d, r8, \\sum\n"
        ".endm\n"
        ".macro mz_both a:req, b:req, c:req, d:req\n"
        "    mz_add r0, r3, \\a, \\b, \\c, \\d\n"
        "    mz_add r2, r4, \\a, \\b, \\c, \\d\n"
        ".endm\n"
        "    push {r4-r11, lr}\n"
        "    mov r12, r3\n"
        "    ldm r0, {r3-r10}\n"
        "    cmp r10, #0\n"
        "    ite eq\n"
        "    moveq lr, r9\n"
        "    movne lr, r6\n"
        "    push {r1-r3, r9, r10, r12}\n"
        "    mov r1, r4\n"
        "1:\n"
        "    ldr r2, [sp, #0]\n"
        "    ldr r0, [sp, #8]\n"
        "    ldr r5, [sp, #16]\n"
        "    movs r3, #0\n"
        "    movs r4, #0\n"
        "    cbnz r5, 4f\n"
        "2:\n"
        "    ldrd r9, r10, [r1], #8\n"
        "    sxtb16 r11, r9\n"
        "    sxtb16 r9, r9, ror #8\n"
        "    sxtb16 r12, r10\n"
        "    sxtb16 r10, r10, ror #8\n"
        "    mz_both r11, r9, r12, r10\n"
        "    cmp r0, lr\n"
        "    bne 2b\n"
        "3:\n"
        "    ldr r5, [sp, #20]\n"
        "    str r3, [r5, #0]\n"
        "    str r4, [r5, #4 * " STRING(MZ_BLOCK) "]\n"
        "    adds r5, #4\n"
        "    str r5, [sp, #20]\n"
        "    ldr r5, [sp, #4]\n"
        "    subs r5, #1\n"
        "    str r5, [sp, #4]\n"
        "    bne 1b\n"
        "    add sp, #24\n"
        "    pop {r4-r11, pc}\n"
        "4:\n"
        "    ldm.w r1!, {r9-r12}\n"
        "    .irp w, r9, r10, r11, r12\n"
        "    sadd16 \\w, \\w, lr\n"
        "    .endr\n"
        "    .irp w, r9, r10, r11, r12\n"
        "    sxtb16 \\w, \\w, ror #8\n"
        "    .endr\n"
        "    mz_both r9, r10, r11, r12\n"
        "    ldr r5, [sp, #12]\n"
        "    cmp r0, r5\n"
        "    bne 4b\n"
        "    b 3b\n"
        ".purgem mz_both\n"
        ".purgem mz_add\n"
    );
}

void mz_dot_range(mz_dot_t *dot, int kind, const void *x, int32_t begin, int32_t end) {
    int32_t rest = (end - begin) >> 3;
    dot->x = (const uint8_t *)x + 2 * begin;
    dot->x_end = (const uint8_t *)x + 2 * end;
    // The lowest bit says Thumb. Without a round left over, the loop is entered at its end.
    dot->entry = (UNROLL - (rest & (UNROLL - 1))) * round_code[kind] + 1;
    dot->first = (end - begin) & 4 ? 1 - four_code[kind] : dot->entry;
    dot->kind = kind;
    if (kind == MZ_ROWS_MASTER) {
        dot->mask = 0x00800080; // the rounding
    }
}

#else

// Inputs in a round.
#define UNROLL 4

// What five rows are summed from; the order of the fields is known to the assembly.
typedef struct {
    const void *x;
    const uint8_t *rows[MZ_ROWS];
    uint32_t mask;
    const void *x_end;
} five_t;

// r0 input, r1..r5 rows, r6..r10 sums, r11 an input, r12 a weight, lr the mask. On the stack:
// the end of the input, where the sums go.
#define DOT(row) \
    ".syntax unified\n" \
    ".macro mz_row from:req, sum:req\n" \
    row \
    ".endm\n" \
    "    push {r1, r4-r11, lr}\n" \
    "    ldm r0, {r0-r5, r6, r7}\n" \
    "    mov lr, r6\n" \
    "    push {r7}\n" \
    "    .irp sum, r6, r7, r8, r9, r10\n" \
    "    mov \\sum, #0\n" \
    "    .endr\n" \
    "    .balign 4\n" \
    "1:\n" \
    "    .rept " STRING(UNROLL) "\n" \
    "    ldrsh r11, [r0], #2\n" \
    "    mz_row r1, r6\n" \
    "    mz_row r2, r7\n" \
    "    mz_row r3, r8\n" \
    "    mz_row r4, r9\n" \
    "    mz_row r5, r10\n" \
    "    .endr\n" \
    "    ldr r12, [sp]\n" \
    "    cmp r0, r12\n" \
    "    bne 1b\n" \
    "    pop {r0, r11}\n" \
    "    stm r11, {r6-r10}\n" \
    "    pop {r4-r11, pc}\n" \
    ".purgem mz_row\n"

__attribute__((naked, noinline)) static void five_int8(const five_t *five, int32_t *sums) {
    __asm volatile (DOT(
        "    ldrsb r12, [\\from], #1\n"
        "    mla \\sum, r12, r11, \\sum\n"));
}

__attribute__((naked, noinline)) static void five_master(const five_t *five, int32_t *sums) {
    __asm volatile (DOT(
        "    ldrsh r12, [\\from], #2\n"
        "    add.w r12, r12, #128\n"
        "    asr.w r12, r12, #8\n"
        "    mla \\sum, r12, r11, \\sum\n"));
}

__attribute__((naked, noinline)) static void five_wide(const five_t *five, int32_t *sums) {
    __asm volatile (DOT(
        "    ldrsh r12, [\\from], #2\n"
        "    and.w r12, r12, lr\n"
        "    mla \\sum, r12, r11, \\sum\n"));
}

typedef void (*five_fun_t)(const five_t *five, int32_t *sums);

// The last row is repeated.
static inline __attribute__((always_inline)) void all_rows(const mz_dot_t *dot, int32_t n, int32_t *sums,
    five_fun_t sum_five) {
    five_t five;
    const uint8_t *row = dot->row;
    five.x = dot->x;
    five.mask = dot->mask;
    five.x_end = dot->x_end;
    for (; n > 0; n -= MZ_ROWS, sums += MZ_ROWS) {
        #pragma GCC unroll 5
        for (int32_t i = 0; i < MZ_ROWS; ++i) {
            five.rows[i] = row;
            row += i + 1 < n ? dot->pitch : 0;
        }
        sum_five(&five, sums);
    }
}

void mz_dot(const mz_dot_t *dot, int32_t n, int32_t *sums) {
    if (dot->kind == MZ_ROWS_INT8) {
        all_rows(dot, n, sums, five_int8);
    } else if (dot->kind == MZ_ROWS_MASTER) {
        all_rows(dot, n, sums, five_master);
    } else {
        all_rows(dot, n, sums, five_wide);
    }
}

void mz_dot_range(mz_dot_t *dot, int kind, const void *x, int32_t begin, int32_t end) {
    dot->kind = kind;
    dot->x = (const int16_t *)x + begin;
    dot->x_end = (const int16_t *)x + end;
}

#endif

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
        if (l->k & 4) {
            put_four(*from++, add, MZ_ROWS_INT8, to);
            to += 2;
        }
        while (from != end) {
            __asm volatile (
                "ldrd r5, r7, [%0], #8\n"
                "sxtab16 r4, %2, r5\n"
                "sxtab16 r5, %2, r5, ror #8\n"
                "sxtab16 r6, %2, r7\n"
                "sxtab16 r7, %2, r7, ror #8\n"
                "stm %1!, {r4-r7}\n"
                : "+r" (from), "+r" (to) : "r" (add) : "r4", "r5", "r6", "r7", "memory");
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
    const int8_t *from = l->in;
    uint8_t *to = data;
    uint32_t sum = 0;
    int32_t k = l->k;
    signs->layer = l;
    signs->stream = view->weight_stream;
    signs->words = (int32_t)mz_row_words(k);
    signs->first_end = to + 32;
    signs->end = to + 32 * signs->words;
    signs->at = signs->stream.key1 - ((uintptr_t)signs->first_end >> 5);
    signs->hash1 = MZ_HASH1;
    signs->key2 = signs->stream.key2;
    signs->hash2 = MZ_HASH2;
    for (const int8_t *end = from + (k & ~15); from != end;) {
        __asm volatile (
            "ldm %[from]!, {r4-r7}\n"
            ".irp x, r4, r5, r6, r7\n"
            "eor \\x, \\x, #0x80808080\n"
            "usada8 %[sum], \\x, %[zero], %[sum]\n"
            ".endr\n"
            "stm %[to]!, {r4-r7}\n"
            : [from] "+r" (from), [to] "+r" (to), [sum] "+r" (sum) : [zero] "r" (0)
            : "r4", "r5", "r6", "r7", "memory");
    }
    for (int32_t left = k & 15; to != signs->end; --left) {
        uint8_t v = left > 0 ? (uint8_t)(*from++ + 128) : 0;
        *to++ = v;
        sum += v;
    }
    signs->total = (int32_t)sum - (128 + l->in_zp) * k;
    signs->last_mask = 0;
    for (int32_t r = (k - 1) & ~31; l->in_zp != -128 && r < k; ++r) {
        signs->last_mask |= 1u << (((r & 31) >> 2) + ((r & 3) << 3));
    }
}

// Total less twice the sums of those of the bytes whose sign is -1, for four rows, from their
// ends. The top bit of each byte of a sign word chooses its input or 0 and leaves the word. r0
// end of bytes, r4..r7 sums, r8..r11 sign words, r1 r2 r12 inputs, r3 those chosen, lr 0; the
// rest of the struct on the stack. No instruction in between changes the flags of the loop.
__attribute__((naked, noinline)) static void signed_sums(const mz_signs_t *signs, int32_t *sums, uint32_t at) {
    __asm volatile (
        ".syntax unified\n"
        ".macro mz_choose x:req, s:req, sum:req\n"
        "    uadd8 \\s, \\s, \\s\n"
        "    sel r3, \\x, lr\n"
        "    usada8 \\sum, r3, lr, \\sum\n"
        ".endm\n"
        ".macro mz_rows x:req\n"
        "    mz_choose \\x, r8, r4\n"
        "    mz_choose \\x, r9, r5\n"
        "    mz_choose \\x, r10, r6\n"
        "    mz_choose \\x, r11, r7\n"
        ".endm\n"
        "    push {r1, r4-r11, lr}\n"
        "    ldm r0, {r0, r4-r10}\n"
        "    add r5, r2\n"
        "    push {r4-r10}\n"
        "    movs r4, #0\n"
        "    movs r5, #0\n"
        "    movs r6, #0\n"
        "    movs r7, #0\n"
        "    mov lr, #0\n"
        "1:\n"
        "    ldm sp, {r1, r2, r3, r12}\n"
        "    add r8, r2, r0, lsr #5\n"
        "    add r9, r8, r1\n"
        "    add r10, r9, r1\n"
        "    add r11, r10, r1\n"
        "    .irp s, r8, r9, r10, r11\n"
        "    eor \\s, \\s, \\s, lsr #16\n"
        "    mla \\s, \\s, r3, r12\n"
        "    eor \\s, \\s, \\s, lsr #15\n"
        "    .endr\n"
        "    ldrd r1, r2, [sp, #16]\n"
        "    cmp r0, r2\n"
        "    .irp s, r8, r9, r10, r11\n"
        "    mul \\s, \\s, r1\n"
        "    eor \\s, \\s, \\s, lsr #16\n"
        "    .endr\n"
        "    .rept 2\n"
        "    ldmdb r0!, {r1, r2, r12}\n"
        "    mz_rows r12\n"
        "    mz_rows r2\n"
        "    mz_rows r1\n"
        "    .endr\n"
        "    ldmdb r0!, {r2, r12}\n"
        "    mz_rows r12\n"
        "    mz_rows r2\n"
        "    bne 1b\n"
        "    add sp, #24\n"
        "    pop {r0, r1}\n"
        "    .irp sum, r4, r5, r6, r7\n"
        "    sub \\sum, r0, \\sum, lsl #1\n"
        "    .endr\n"
        "    stm r1, {r4-r7}\n"
        "    pop {r4-r11, pc}\n"
        ".purgem mz_choose\n"
        ".purgem mz_rows\n"
    );
}

// Number of signs -1 in a row.
static MZ_BUSY int32_t count_minus(const mz_signs_t *signs, uint32_t next) {
    uint32_t count = 0;
    for (int32_t left = signs->words; left > 0; --left) {
        uint32_t v = mz_word(signs->stream, next++);
        if (left == 1) {
            v &= signs->last_mask;
        }
        v -= (v >> 1) & 0x55555555;
        v = (v & 0x33333333) + ((v >> 2) & 0x33333333);
        v = (v + (v >> 4)) & 0x0f0f0f0f;
        __asm ("usada8 %0, %1, %2, %0" : "+r" (count) : "r" (v), "r" (0));
    }
    return (int32_t)count;
}

// All inputs less twice those of sign -1. Those are summed as x + 128, which is too much
// by 128 + zp for each: with a zero point of -128 they need not be counted.
void mz_signs_four(const mz_signs_t *signs, int32_t c, int32_t *sum) {
    uint32_t n = (uint32_t)signs->words;
    uint32_t next = (uint32_t)c * n;
    int32_t excess = 128 + signs->layer->in_zp;
    signed_sums(signs, sum, next);
    for (int32_t i = 0; excess != 0 && i < 4; ++i, next += n) {
        sum[i] += 2 * excess * count_minus(signs, next);
    }
}

#else

void mz_dense_expand(const mz_layer_t *l, int kind, void *expanded) {
    const mz_word_t *from = (const mz_word_t *)(const void *)l->in;
    int16_t *to = expanded;
    int32_t zp = l->in_zp;
    (void)kind;
    for (const mz_word_t *end = from + (l->k >> 2); from != end; to += 4) {
        uint32_t v = *from++;
        to[0] = (int16_t)((int8_t)v - zp);
        to[1] = (int16_t)((int8_t)(v >> 8) - zp);
        to[2] = (int16_t)((int8_t)(v >> 16) - zp);
        to[3] = (int16_t)(((int32_t)v >> 24) - zp);
    }
    for (int32_t i = l->k & ~3; i < l->k4; ++i) {
        *to++ = (int16_t)(i < l->k ? l->in[i] - zp : 0);
    }
}

#endif

#endif
