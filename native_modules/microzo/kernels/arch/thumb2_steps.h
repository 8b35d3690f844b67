// Rows of masters under one pair on Cortex-M3.
#ifndef MZ_THUMB2_STEPS_H
#define MZ_THUMB2_STEPS_H

#include "steps_table.h"

#define MZ_ONE_MULTIPLE 8 // of weights in a row

// What mz_rows_one reads; the order of the fields is known to it.
typedef struct {
    uint32_t last; // number of the sign word before the first, with key1
    uint32_t hash1, key2, hash2; // constants of mz_word
    mz_step_four_t table[16];
} mz_one_t;

static inline void mz_one_open(mz_one_t *one, mz_stream_t stream) {
    one->last = stream.key1 - 1;
    one->hash1 = MZ_HASH1;
    one->key2 = stream.key2;
    one->hash2 = MZ_HASH2;
}

// Rows of k weights, one after another. r0 masters, r1 signs, r2 table, r3 and r12 constants,
// r4..r7 four words, r8..r11 an entry of the table, lr and r10 what changed its sign. On the
// stack: the first fields of the struct; the end of the row's whole sign words, bytes of those,
// eights in its last word, the same if they are still to be done, rows to go.
__attribute__((naked, noinline)) static void mz_rows_one(int16_t *w, int32_t k, int32_t rows,
    const mz_one_t *one) {
    __asm volatile (
        ".syntax unified\n"
        // Two words by the signs of four q: bits q, q + 8, q + 16, q + 24 become 28..31.
        ".macro mz_four q:req, a:req, b:req\n"
        "    .if \\q\n"
        "    and.w r8, r3, r1, lsr #\\q\n"
        "    .else\n"
        "    and.w r8, r3, r1\n"
        "    .endif\n"
        "    mul r8, r8, r12\n"
        "    add.w r8, r2, r8, lsr #24\n"
        "    ldm.w r8, {r8-r11}\n"
        "    add r10, \\a\n"
        "    eor r10, r10, \\a\n"
        "    add \\a, r8\n"
        "    add r11, \\b\n"
        "    eor r11, r11, \\b\n"
        "    add \\b, r9\n"
        ".endm\n"
        ".macro mz_eight q:req, next:req\n"
        "    ldm.w r0, {r4-r7}\n"
        "    mz_four \\q, r4, r5\n"
        "    orr lr, r10, r11\n"
        "    mz_four \\next, r6, r7\n"
        "    orr r10, r10, r11\n"
        "    orr r10, r10, lr\n"
        "    tst r10, #0x80008000\n"
        "    beq 7f\n"
        "    bl 8f\n"
        "7:\n"
        "    stm r0!, {r4-r7}\n"
        ".endm\n"
        ".macro mz_draw\n"
        "    ldm.w sp, {r4-r7}\n"
        "    adds r4, #1\n"
        "    str r4, [sp]\n"
        "    eor r1, r4, r4, lsr #16\n"
        "    mla r1, r1, r5, r6\n"
        "    eor r1, r1, r1, lsr #15\n"
        "    mul r1, r1, r7\n"
        "    eor r1, r1, r1, lsr #16\n"
        ".endm\n"
        // What is beyond a limit is put on it; r8 a half, r11 the limit.
        ".macro mz_limit v:req, at:req\n"
        "    add r9, r8, r11\n"
        "    cmp r9, #0xfe00\n"
        "    bls 6f\n"
        "    asrs r8, r8, #31\n"
        "    eor r9, r11, r8\n"
        "    sub r9, r9, r8\n"
        "    bfi \\v, r9, #\\at, #16\n"
        "6:\n"
        ".endm\n"
        "    push {r4-r11, lr}\n"
        "    sub sp, #36\n"
        "    ldm r3!, {r4-r7}\n"
        "    stm.w sp, {r4-r7}\n"
        "    bic r4, r1, #31\n"
        "    lsls r4, r4, #1\n"
        "    ubfx r5, r1, #3, #2\n"
        "    strd r4, r5, [sp, #20]\n"
        "    str r2, [sp, #32]\n"
        "    mov r2, r3\n"
        "    mov r3, #0x01010101\n"
        "    movw r12, #0x4080\n"
        "    movt r12, #0x1020\n"
        "1:\n"
        "    ldrd r4, r5, [sp, #20]\n"
        "    str r5, [sp, #28]\n"
        "    add r6, r0, r4\n"
        "    str r6, [sp, #16]\n"
        "    cbnz r4, 2f\n"
        "    b 4f\n"
        "2:\n"
        "    mz_draw\n"
        "    mz_eight 0, 1\n"
        "9:\n"
        "    mz_eight 2, 3\n"
        "10:\n"
        "    mz_eight 4, 5\n"
        "11:\n"
        "    mz_eight 6, 7\n"
        "    ldr r8, [sp, #16]\n"
        "    cmp r0, r8\n"
        "    bne.w 2b\n"
        // The last word, less than whole: its fours are taken as if they were the last ones.
        "4:\n"
        "    ldr r8, [sp, #28]\n"
        "    cmp r8, #0\n"
        "    beq 5f\n"
        "    mov r4, #0\n"
        "    str r4, [sp, #28]\n"
        "    add r4, r0, r8, lsl #4\n"
        "    str r4, [sp, #16]\n"
        "    mz_draw\n"
        "    rsb r9, r8, #4\n"
        "    lsl r9, r9, #1\n"
        "    lsl r1, r1, r9\n"
        "    cmp r8, #2\n"
        "    bgt.w 9b\n"
        "    beq.w 10b\n"
        "    b 11b\n"
        "5:\n"
        "    ldr r4, [sp, #32]\n"
        "    subs r4, #1\n"
        "    str r4, [sp, #32]\n"
        "    bne.w 1b\n"
        "    add sp, #36\n"
        "    pop {r4-r11, pc}\n"
        // r4..r7 are made right where a lower half changed its sign and carried into the upper one,
        // and where a half left its limits. r10: what changed its sign further on.
        "8:\n"
        "    mov r11, #0x7f00\n"
        "    tst r10, #0x8000\n"
        "    beq 13f\n"
        ".irp v, 4, 5, 6, 7\n"
        "    ldr r8, [r0, #(4 * \\v - 16)]\n"
        "    eor r8, r8, r\\v\n"
        "    tst r8, #0x8000\n"
        "    beq 12f\n"
        "    tst r\\v, #0x8000\n"
        "    ite eq\n"
        "    subeq r\\v, r\\v, #0x10000\n"
        "    addne r\\v, r\\v, #0x10000\n"
        "12:\n"
        "    sxth r8, r\\v\n"
        "    mz_limit r\\v, 0\n"
        ".endr\n"
        "    cmp r10, #0\n"
        "    it ge\n"
        "    bxge lr\n"
        "13:\n"
        ".irp v, 4, 5, 6, 7\n"
        "    asr r8, r\\v, #16\n"
        "    mz_limit r\\v, 16\n"
        ".endr\n"
        "    bx lr\n"
        ".purgem mz_four\n"
        ".purgem mz_eight\n"
        ".purgem mz_draw\n"
        ".purgem mz_limit\n"
    );
}

#endif
