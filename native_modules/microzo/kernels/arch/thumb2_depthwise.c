// Depthwise convolution in Thumb-2, four channels at a time.
#include "arch.h"

#if MZ_THUMB2

#include "../depthwise.h"
#if MZ_DSP
#include "dsp.h"
#endif

// Common to both functions: r4..r7 sums, r12 the quad. On the stack: mz_dw_t, whose
// first words are quad, w, out, out_end, out_move, raw.
#if MZ_DSP
#define HIGH(v) "    smmulr " v ", " v ", r8\n"
#else
#define HIGH(v) \
    "    smull r11, " v ", " v ", r8\n" \
    "    add " v ", " v ", r11, lsr #31\n"
#endif

#define MACROS \
    ".syntax unified\n" \
    ".macro mz_sums even:req, odd:req\n" \
    "    ldrd r10, r11, [r1], #8\n" \
    "    smlabb r4, \\even, r10, r4\n" \
    "    smlabb r5, \\odd, r11, r5\n" \
    "    smlatt r6, \\even, r10, r6\n" \
    "    smlatt r7, \\odd, r11, r7\n" \
    ".endm\n" \
    ".macro mz_put acc:req, at:req\n" \
    "    ldm r12!, {r8, r9, r10}\n" \
    "    lsl \\acc, \\acc, #1\n" \
    HIGH("\\acc") \
    "    add \\acc, \\acc, \\acc, asr #31\n" \
    "    add \\acc, r9\n" \
    "    asr \\acc, r10\n" \
    "    ssat \\acc, #8, \\acc\n" \
    "    strb \\acc, [r1, #\\at]\n" \
    ".endm\n" \
    ".macro mz_enter\n" \
    "    push {r4-r11, lr}\n" \
    "    sub sp, #48\n" \
    "    mov r12, sp\n" \
    "    ldm r0!, {r4-r11}\n" \
    "    stm r12!, {r4-r11}\n" \
    ".endm\n" \
    ".macro mz_begin\n" \
    "    ldrd r12, r1, [sp, #0]\n" \
    "    ldm r12!, {r4-r7}\n" \
    ".endm\n" \
    ".macro mz_finish again:req\n" \
    "    ldr r1, [sp, #8]\n" \
    "    cbnz r1, 7f\n" \
    "    ldr r0, [sp, #20]\n" \
    "    stm r0, {r4-r7}\n" \
    "    b 8f\n" \
    "7:\n" \
    "    mz_put r4, 0\n" \
    "    mz_put r5, 1\n" \
    "    mz_put r6, 2\n" \
    "    mz_put r7, 3\n" \
    "    ldrd r8, r9, [sp, #12]\n" \
    "    add r1, r9\n" \
    "    str r1, [sp, #8]\n" \
    "    cmp r1, r8\n" \
    "    bne \\again\n" \
    "8:\n" \
    "    add sp, #48\n" \
    "    pop {r4-r11, pc}\n" \
    ".endm\n"

#define END_MACROS \
    ".purgem mz_sums\n" \
    ".purgem mz_put\n" \
    ".purgem mz_enter\n" \
    ".purgem mz_begin\n" \
    ".purgem mz_finish\n"

#if MZ_DSP
#define CELL(a, b, c, d) \
    "    ldrd r8, r9, [\\from, #" a "]\n" \
    "    mz_sums r8, r9\n"
#else
#define TAP(at, sum) \
    "    ldrsh r8, [\\from, #" at "]\n" \
    "    ldrsh r10, [r1], #2\n" \
    "    mla " sum ", r8, r10, " sum "\n"
#define CELL(a, b, c, d) \
    TAP(a, "r4") \
    TAP(b, "r5") \
    TAP(c, "r6") \
    TAP(d, "r7")
#endif

// r0 r2 r3: the three rows, lr: bytes between positions.
__attribute__((naked, noinline)) void mz_dw_ring(const mz_dw_t *dw) {
    __asm volatile (
        MACROS
        ".macro mz_row from:req\n"
        CELL("0", "2", "4", "6")
        CELL("8", "10", "12", "14")
        CELL("16", "18", "20", "22")
        "    add \\from, lr\n"
        ".endm\n"
        "    mz_enter\n"
        "    ldrd r3, lr, [r0]\n"
        "    mov r0, r10\n"
        "    mov r2, r11\n"
        "1:\n"
        "    mz_begin\n"
        "    mz_row r0\n"
        "    mz_row r2\n"
        "    mz_row r3\n"
        "    mz_finish 1b\n"
        ".purgem mz_row\n"
        END_MACROS
    );
}

#if MZ_DSP

// r0 input, r2 -zero point (both halves), r3 bytes between columns. On the stack, from
// byte 24: cols, w_skip, x_row, x_move, rows.
__attribute__((naked, noinline)) void mz_dw_direct(const mz_dw_t *dw) {
    __asm volatile (
        MACROS
        "    mz_enter\n"
        "    ldm r0, {r4-r9}\n"
        "    stm r12!, {r4-r6}\n"
        "    mov r0, r7\n"
        "    mov r3, r8\n"
        "    rsb r2, r9, #0\n"
        "    pkhbt r2, r2, r2, lsl #16\n"
        "1:\n"
        "    mz_begin\n"
        "    ldr lr, [sp, #40]\n"
        "2:\n"
        "    push {r0, lr}\n"
        "    ldr lr, [sp, #32]\n"
        "3:\n"
        "    ldr r8, [r0]\n"
        "    sxtab16 r9, r2, r8\n"
        "    sxtab16 r8, r2, r8, ror #8\n"
        "    mz_sums r9, r8\n"
        "    add r0, r3\n"
        "    subs lr, #1\n"
        "    bne 3b\n"
        "    pop {r0, lr}\n"
        "    ldrd r8, r9, [sp, #28]\n"
        "    add r1, r8\n"
        "    subs lr, #1\n"
        "    itt ne\n"
        "    addne r0, r9\n"
        "    bne 2b\n"
        "    ldr r8, [sp, #36]\n"
        "    add r0, r8\n"
        "    mz_finish 1b\n"
        END_MACROS
    );
}

void mz_dw_expand(const int8_t *x, int32_t in_c, int32_t n, int32_t zp, void *to) {
    mz_word_t *cell = to;
    uint32_t add = mz_both(-zp);
    for (int32_t i = 0; i < n; ++i) {
        uint32_t v = *(const mz_word_t *)(const void *)x;
        x += in_c;
        cell[0] = mz_sxtab16(add, v);
        cell[1] = mz_sxtab16_8(add, v);
        cell += 2;
    }
}

#else

void mz_dw_expand(const int8_t *x, int32_t in_c, int32_t n, int32_t zp, void *to) {
    int16_t *cell = to;
    for (int32_t i = 0; i < n; ++i) {
        int32_t a = x[0], b = x[1], c = x[2], d = x[3];
        x += in_c;
        cell[0] = (int16_t)(a - zp);
        cell[1] = (int16_t)(b - zp);
        cell[2] = (int16_t)(c - zp);
        cell[3] = (int16_t)(d - zp);
        cell += 4;
    }
}

#endif

#endif
