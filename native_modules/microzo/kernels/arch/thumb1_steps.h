// Rows of masters under one or two pairs on Cortex-M0+.
#ifndef MZ_THUMB1_STEPS_H
#define MZ_THUMB1_STEPS_H

#include "steps_table.h"

#define MZ_ONE_MULTIPLE 4 // of weights in a row

// r4, r5: words at r0 after their steps, are made right where the lower half changed its sign and
// carried into the upper one, or where a half left its limits; r6: what changed its sign further on.
__attribute__((naked, noinline, used)) static void mz_repair(void) {
    __asm volatile (
        ".syntax unified\n"
        // r2 a half, r7 the limit: beyond it, all ones or zeros in r2, and the limit's sign as well.
        ".macro mz_beyond good:req\n"
        "    cmp r2, r7\n"
        "    bgt 1f\n"
        "    cmn r2, r7\n"
        "    bge \\good\n"
        "1:\n"
        "    asrs r2, r2, #31\n"
        "    movs r6, r7\n"
        "    eors r6, r2\n"
        "    subs r6, r6, r2\n"
        ".endm\n"
        "    movs r7, #127\n"
        "    lsls r7, r7, #8\n"
        "    lsls r2, r6, #17\n"
        "    bcc 5f\n"
        ".irp v, 4, 5\n"
        "    ldr r2, [r0, #(4 * \\v - 16)]\n"
        "    eors r2, r\\v\n"
        "    lsls r2, r2, #17\n"
        "    bcc 3f\n"
        "    movs r2, #1\n"
        "    lsls r2, r2, #16\n"
        "    lsls r6, r\\v, #17\n"
        "    bcs 2f\n"
        "    negs r2, r2\n"
        "2:\n"
        "    adds r\\v, r\\v, r2\n"
        "3:\n"
        "    sxth r2, r\\v\n"
        "    mz_beyond 4f\n"
        "    lsrs r\\v, r\\v, #16\n"
        "    lsls r\\v, r\\v, #16\n"
        "    uxth r6, r6\n"
        "    orrs r\\v, r6\n"
        "4:\n"
        ".endr\n"
        "5:\n"
        ".irp v, 4, 5\n"
        "    asrs r2, r\\v, #16\n"
        "    mz_beyond 6f\n"
        "    uxth r\\v, r\\v\n"
        "    lsls r6, r6, #16\n"
        "    orrs r\\v, r6\n"
        "6:\n"
        ".endr\n"
        "    bx lr\n"
        ".purgem mz_beyond\n"
    );
}

// r4, r5 steps of the two words at r0, r6, r7 the far ones, r3 the halves' top bits.
#define MZ_MOVE_TWO_WORDS \
    ".macro mz_move\n" \
    "    ldr r2, [r0]\n" \
    "    adds r6, r6, r2\n" \
    "    eors r6, r2\n" \
    "    adds r4, r4, r2\n" \
    "    ldr r2, [r0, #4]\n" \
    "    adds r7, r7, r2\n" \
    "    eors r7, r2\n" \
    "    adds r5, r5, r2\n" \
    "    orrs r6, r7\n" \
    "    tst r6, r3\n" \
    "    beq 7f\n" \
    "    bl mz_repair\n" \
    "7:\n" \
    "    stm r0!, {r4, r5}\n" \
    ".endm\n"

// What mz_rows_one reads; the order of the fields is known to it.
typedef struct {
    uint32_t last; // number of the sign word before the first, with key1
    uint32_t hash1, hash2; // constants of mz_word
    uint32_t swap7, swap14, nibbles; // bits that change places, and that are taken apart
    uint32_t key2;
    mz_step_four_t table[16];
} mz_one_t;

static inline void mz_one_open(mz_one_t *one, mz_stream_t stream) {
    one->last = stream.key1 - 1;
    one->hash1 = MZ_HASH1;
    one->hash2 = MZ_HASH2;
    one->swap7 = 0x00aa00aa;
    one->swap14 = 0x0000cccc;
    one->nibbles = 0xf0f0f0f0;
    one->key2 = stream.key2;
}

// Rows of k weights, one after another. r0 masters, r1 the signs of eight fours as offsets in the
// table, r8 the table, r11 key2, r12 end of the row's whole sign words. On the stack: the first
// fields of the struct; the signs; fours in the row's last word, the same if they are still to be
// done, rows to go, bytes of the whole words.
__attribute__((naked, noinline)) static void mz_rows_one(int16_t *w, int32_t k, int32_t rows,
    const mz_one_t *one) {
    __asm volatile (
        ".syntax unified\n"
        MZ_MOVE_TWO_WORDS
        ".macro mz_four j:req\n"
        "    ldrb r4, [r1, #\\j]\n"
        "    add r4, r8\n"
        "    ldm r4, {r4-r7}\n"
        "    mz_move\n"
        ".endm\n"
        ".macro mz_swap mask:req, by:req\n"
        "    lsrs r4, r2, #\\by\n"
        "    eors r4, r2\n"
        "    ands r4, \\mask\n"
        "    eors r2, r4\n"
        "    lsls r4, r4, #\\by\n"
        "    eors r2, r4\n"
        ".endm\n"
        // The next sign word; the signs of each four become neighbours.
        ".macro mz_draw\n"
        "    ldm r1!, {r2, r5, r6, r7}\n"
        "    adds r2, #1\n"
        "    str r2, [sp]\n"
        "    lsrs r4, r2, #16\n"
        "    eors r2, r4\n"
        "    muls r2, r5, r2\n"
        "    add r2, r11\n"
        "    lsrs r4, r2, #15\n"
        "    eors r2, r4\n"
        "    muls r2, r6, r2\n"
        "    lsrs r4, r2, #16\n"
        "    eors r2, r4\n"
        "    mz_swap r7, 7\n"
        "    ldm r1!, {r6, r7}\n"
        "    mz_swap r6, 14\n"
        "    lsls r4, r2, #4\n"
        "    ands r4, r7\n"
        "    ands r2, r7\n"
        "    str r4, [r1]\n"
        "    str r2, [r1, #4]\n"
        ".endm\n"
        "    push {r4-r7, lr}\n"
        "    mov r4, r8\n"
        "    mov r5, r11\n"
        "    push {r4, r5}\n"
        "    sub sp, #48\n"
        "    str r2, [sp, #40]\n"
        "    mov r2, sp\n"
        "    ldm r3!, {r4-r7}\n"
        "    stm r2!, {r4-r7}\n"
        "    ldm r3!, {r4-r6}\n"
        "    stm r2!, {r4, r5}\n"
        "    mov r11, r6\n"
        "    mov r8, r3\n"
        "    lsrs r2, r1, #5\n"
        "    lsls r2, r2, #6\n"
        "    str r2, [sp, #44]\n"
        "    lsls r1, r1, #27\n"
        "    lsrs r1, r1, #29\n"
        "    str r1, [sp, #32]\n"
        "    movs r3, #128\n"
        "    lsls r3, r3, #8\n"
        "    lsls r2, r3, #16\n"
        "    orrs r3, r2\n"
        "    b 1f\n"
        // The last word, less than whole: its fours are the last ones of the loop.
        "3:\n"
        "    ldr r4, [sp, #36]\n"
        "    cmp r4, #0\n"
        "    beq 5f\n"
        "    movs r2, #0\n"
        "    str r2, [sp, #36]\n"
        "    lsls r2, r4, #3\n"
        "    add r12, r2\n"
        "    mz_draw\n"
        "    ldr r4, [sp, #32]\n"
        "    movs r2, #8\n"
        "    subs r2, r2, r4\n"
        "    subs r1, r1, r2\n"
        "    movs r4, #34\n" // bytes of code for a four
        "    muls r2, r4, r2\n"
        "    adr r4, 4f\n"
        "    adds r4, r4, r2\n"
        "    mov pc, r4\n"
        "5:\n"
        "    ldr r2, [sp, #40]\n"
        "    subs r2, #1\n"
        "    str r2, [sp, #40]\n"
        "    bne 1f\n"
        "    add sp, #48\n"
        "    pop {r4, r5}\n"
        "    mov r8, r4\n"
        "    mov r11, r5\n"
        "    pop {r4-r7, pc}\n"
        "1:\n"
        "    mov r1, sp\n"
        "    ldr r2, [sp, #32]\n"
        "    str r2, [sp, #36]\n"
        "    ldr r2, [sp, #44]\n"
        "    mov r12, r0\n"
        "    add r12, r2\n"
        "    cmp r2, #0\n"
        "    beq 3b\n"
        "2:\n"
        "    mz_draw\n"
        "    .balign 4\n"
        "4:\n"
        "    .irp j, 0, 1, 2, 3, 4, 5, 6, 7\n"
        "    mz_four \\j\n"
        "    .endr\n"
        "    subs r1, #24\n"
        "    cmp r0, r12\n"
        "    beq 6f\n"
        "    b 2b\n"
        "6:\n"
        "    b 3b\n"
        ".purgem mz_four\n"
        ".purgem mz_move\n"
        ".purgem mz_draw\n"
        ".purgem mz_swap\n"
    );
}

// Up to eight fours under two pairs; r1 offsets in the table, one a word.
__attribute__((naked, noinline)) static void mz_fours_two(int16_t *w, const uint32_t *signs,
    const mz_step_t *table, int32_t fours) {
    __asm volatile (
        ".syntax unified\n"
        MZ_MOVE_TWO_WORDS
        ".macro mz_four j:req\n"
        "    ldrb r4, [r1, #(2 * \\j)]\n"
        "    ldrb r5, [r1, #(2 * \\j + 1)]\n"
        "    add r4, r8\n"
        "    add r5, r8\n"
        "    ldm r4, {r4, r6}\n"
        "    ldm r5, {r5, r7}\n"
        "    mz_move\n"
        ".endm\n"
        "    push {r4-r7, lr}\n"
        "    mov r4, r8\n"
        "    push {r4}\n"
        "    mov r8, r2\n"
        "    movs r2, #8\n"
        "    subs r2, r2, r3\n"
        "    subs r1, r1, r2\n"
        "    subs r1, r1, r2\n"
        "    movs r4, #40\n" // bytes of code for a four
        "    muls r2, r4, r2\n"
        "    movs r3, #128\n"
        "    lsls r3, r3, #8\n"
        "    lsls r4, r3, #16\n"
        "    orrs r3, r4\n"
        "    adr r4, 4f\n"
        "    adds r4, r4, r2\n"
        "    mov pc, r4\n"
        "    .balign 4\n"
        "4:\n"
        "    .irp j, 0, 1, 2, 3, 4, 5, 6, 7\n"
        "    mz_four \\j\n"
        "    .endr\n"
        "    pop {r4}\n"
        "    mov r8, r4\n"
        "    pop {r4-r7, pc}\n"
        ".purgem mz_four\n"
        ".purgem mz_move\n"
    );
}

// A row of whole fours under two pairs.
static MZ_BUSY void mz_row_looked_up(int16_t *w, int32_t k, const mz_stream_t *streams, uint32_t next,
    const mz_step_t *table) {
    uint32_t low = mz_factor(0x78787878);
    for (; k > 0; k -= 32, w += 32) {
        uint32_t a = mz_word(streams[0], next);
        uint32_t b = mz_word(streams[1], next);
        uint32_t signs[4];
        ++next;
        // The index bits of a sign are q2 q1 q0 (four) and b1 b0 (place in it): bits b1 b0 q2 q1 q0
        // of a word and the pair are made bits q0 b1 q2 b0 pair of word q1.
        mz_swap_bits(&a, &b, 1, 0x55555555);
        mz_swap_bits(&a, &b, 16, 0x0000ffff);
        mz_swap_bits(&a, &b, 8, 0x00ff00ff);
        mz_swap_bits(&a, &b, 2, 0x33333333);
        signs[0] = (a << 3) & low;
        signs[1] = (b << 3) & low;
        signs[2] = (a >> 1) & low;
        signs[3] = (b >> 1) & low;
        mz_fours_two(w, signs, table, mz_min(k, 32) >> 2);
    }
}

#endif
