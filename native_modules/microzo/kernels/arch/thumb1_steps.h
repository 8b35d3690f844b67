// Rows of masters under one or two pairs on Cortex-M0+.
#ifndef MZ_THUMB1_STEPS_H
#define MZ_THUMB1_STEPS_H

#include "steps_table.h"

#define MZ_ONE_MULTIPLE 4 // of weights in a row

// r4, r5: words at r0 after their steps, r2 the second one before it; they are made right where a
// lower half changed its sign and carried into the upper one, and where a half left its limits. r6:
// what changed its sign further on; r9 the limit, r10 twice that.
__attribute__((naked, noinline, used)) static void mz_repair(void) {
    __asm volatile (
        ".syntax unified\n"
        // r2 a half; beyond the limits, the limit of its sign.
        ".macro mz_beyond good:req\n"
        "    add r2, r9\n"
        "    cmp r2, r10\n"
        "    bls \\good\n"
        "    asrs r2, r2, #31\n"
        "    mov r7, r9\n"
        "    eors r7, r2\n"
        "    subs r2, r7, r2\n"
        ".endm\n"
        "    lsls r7, r6, #17\n"
        "    bcc 5f\n"
        "    eors r2, r5\n"
        "    ldr r7, [r0]\n"
        "    eors r7, r4\n"
        "    orrs r7, r2\n"
        "    lsls r7, r7, #17\n"
        "    bcc 4f\n"
        ".irp v, 4, 5\n"
        "    ldr r2, [r0, #(4 * \\v - 16)]\n"
        "    eors r2, r\\v\n"
        "    lsls r2, r2, #17\n"
        "    bcc 3f\n"
        "    movs r2, #1\n"
        "    lsls r2, r2, #16\n"
        "    lsls r7, r\\v, #17\n"
        "    bcs 2f\n"
        "    negs r2, r2\n"
        "2:\n"
        "    adds r\\v, r\\v, r2\n"
        "3:\n"
        ".endr\n"
        "4:\n"
        ".irp v, 4, 5\n"
        "    sxth r2, r\\v\n"
        "    mz_beyond 6f\n"
        "    lsrs r\\v, r\\v, #16\n"
        "    lsls r\\v, r\\v, #16\n"
        "    uxth r2, r2\n"
        "    orrs r\\v, r2\n"
        "6:\n"
        ".endr\n"
        "    cmp r6, #0\n"
        "    bge 7f\n"
        "5:\n"
        ".irp v, 4, 5\n"
        "    asrs r2, r\\v, #16\n"
        "    mz_beyond 6f\n"
        "    uxth r\\v, r\\v\n"
        "    lsls r2, r2, #16\n"
        "    orrs r\\v, r2\n"
        "6:\n"
        ".endr\n"
        "7:\n"
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

// r2 and r4 are spoilt.
#define MZ_SET_LIMITS \
    "    movs r2, #127\n" \
    "    lsls r2, r2, #8\n" \
    "    lsls r4, r2, #1\n" \
    "    mov r9, r2\n" \
    "    mov r10, r4\n"

// What mz_rows_one reads; the order of the fields is known to it.
typedef struct {
    uint32_t last; // number of the sign word before the first, with key1
    uint32_t and7, hash1, hash2, swap7; // constants of mz_word; bits that change places
    uint32_t tops, swap14, and14, nibbles; // more of those; bits that are tested, taken apart
    uint32_t key2;
    mz_step_four_t table[16];
} mz_one_t;

static inline void mz_one_open(mz_one_t *one, mz_stream_t stream) {
    one->last = stream.key1 - 1;
    one->hash1 = MZ_HASH1;
    one->hash2 = MZ_HASH2;
    one->swap7 = 0x00aa00aa;
    one->and7 = 1 + (1 << 7);
    one->tops = 0x80008000;
    one->swap14 = 0x0000cccc;
    one->and14 = 1 + (1 << 14);
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
        ".macro mz_swap by:req, mask:req, both:req\n"
        "    lsrs r4, r2, #\\by\n"
        "    eors r4, r2\n"
        "    ands r4, \\mask\n"
        "    muls r4, \\both, r4\n"
        "    eors r2, r4\n"
        ".endm\n"
        // The next sign word; the signs of each four become neighbours.
        ".macro mz_draw\n"
        "    ldm r1!, {r2, r3, r5, r6, r7}\n"
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
        "    mz_swap 7, r7, r3\n"
        "    ldm r1!, {r3, r5, r6, r7}\n"
        "    mz_swap 14, r5, r6\n"
        "    lsls r4, r2, #4\n"
        "    ands r4, r7\n"
        "    ands r2, r7\n"
        "    str r4, [r1]\n"
        "    str r2, [r1, #4]\n"
        ".endm\n"
        "    push {r4-r7, lr}\n"
        "    mov r4, r8\n"
        "    mov r5, r9\n"
        "    mov r6, r10\n"
        "    mov r7, r11\n"
        "    push {r4-r7}\n"
        "    sub sp, #60\n"
        "    str r2, [sp, #52]\n"
        "    mov r2, sp\n"
        "    .rept 3\n"
        "    ldm r3!, {r4-r6}\n"
        "    stm r2!, {r4-r6}\n"
        "    .endr\n"
        "    ldm r3!, {r6}\n"
        "    mov r11, r6\n"
        "    mov r8, r3\n"
        "    lsrs r2, r1, #5\n"
        "    lsls r2, r2, #6\n"
        "    str r2, [sp, #56]\n"
        "    lsls r1, r1, #27\n"
        "    lsrs r1, r1, #29\n"
        "    str r1, [sp, #44]\n"
        MZ_SET_LIMITS
        "    b 1f\n"
        // The last word, less than whole: its fours are the last ones of the loop.
        "3:\n"
        "    ldr r4, [sp, #48]\n"
        "    cmp r4, #0\n"
        "    beq 5f\n"
        "    movs r2, #0\n"
        "    str r2, [sp, #48]\n"
        "    lsls r2, r4, #3\n"
        "    add r12, r2\n"
        "    mz_draw\n"
        "    ldr r4, [sp, #44]\n"
        "    movs r2, #8\n"
        "    subs r2, r2, r4\n"
        "    subs r1, r1, r2\n"
        "    movs r4, #34\n" // bytes of code for a four
        "    muls r2, r4, r2\n"
        "    adr r4, 4f\n"
        "    adds r4, r4, r2\n"
        "    mov pc, r4\n"
        "5:\n"
        "    ldr r2, [sp, #52]\n"
        "    subs r2, #1\n"
        "    str r2, [sp, #52]\n"
        "    bne 1f\n"
        "    add sp, #60\n"
        "    pop {r4-r7}\n"
        "    mov r8, r4\n"
        "    mov r9, r5\n"
        "    mov r10, r6\n"
        "    mov r11, r7\n"
        "    pop {r4-r7, pc}\n"
        "1:\n"
        "    mov r1, sp\n"
        "    ldr r2, [sp, #44]\n"
        "    str r2, [sp, #48]\n"
        "    ldr r2, [sp, #56]\n"
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
        "    subs r1, #36\n"
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

// What enters and leaves the eight fours of mz_fours_*, each of `code` bytes, the last ones of them:
// r1 `pitch` bytes of signs for a four, r8 the table, r12 the halves' top bits.
#define MZ_FOURS(pitch, code) \
    "    push {r4-r7, lr}\n" \
    "    mov r4, r8\n" \
    "    mov r5, r9\n" \
    "    mov r6, r10\n" \
    "    mov r7, r11\n" \
    "    push {r4-r7}\n" \
    "    mov r8, r2\n" \
    "    adds r2, #128\n" \
    "    mov r11, r2\n" \
    MZ_SET_LIMITS \
    "    movs r2, #8\n" \
    "    subs r2, r2, r3\n" \
    "    movs r4, #" pitch "\n" \
    "    muls r4, r2, r4\n" \
    "    subs r1, r1, r4\n" \
    "    movs r4, #" code "\n" \
    "    muls r2, r4, r2\n" \
    "    movs r3, #128\n" \
    "    lsls r3, r3, #8\n" \
    "    lsls r4, r3, #16\n" \
    "    orrs r3, r4\n" \
    "    mov r12, r3\n" \
    "    adr r4, 4f\n" \
    "    adds r4, r4, r2\n" \
    "    mov pc, r4\n" \
    "    .balign 4\n" \
    "4:\n" \
    "    .irp j, 0, 1, 2, 3, 4, 5, 6, 7\n" \
    "    mz_four \\j\n" \
    "    .endr\n" \
    "    pop {r4-r7}\n" \
    "    mov r8, r4\n" \
    "    mov r9, r5\n" \
    "    mov r10, r6\n" \
    "    mov r11, r7\n" \
    "    pop {r4-r7, pc}\n" \
    ".purgem mz_four\n"

// Up to eight fours under two pairs; signs: offsets in the table, one a word.
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
        MZ_FOURS("2", "40")
        ".purgem mz_move\n"
    );
}

// Up to eight fours under four pairs; signs: offsets in the table's halves, one a master.
__attribute__((naked, noinline)) static void mz_fours_four(int16_t *w, const uint32_t *signs,
    const mz_step_t *table, int32_t fours) {
    __asm volatile (
        ".syntax unified\n"
        ".macro mz_four j:req\n"
        "    ldrb r4, [r1, #(4 * \\j)]\n"
        "    ldrb r5, [r1, #(4 * \\j + 1)]\n"
        "    add r4, r8\n"
        "    add r5, r11\n"
        "    ldm r4, {r4, r6}\n"
        "    ldm r5, {r5, r7}\n"
        "    ldr r2, [r0]\n"
        "    adds r6, r6, r7\n"
        "    adds r6, r6, r2\n"
        "    eors r6, r2\n"
        "    adds r4, r4, r5\n"
        "    adds r4, r4, r2\n"
        "    ldrb r5, [r1, #(4 * \\j + 2)]\n"
        "    ldrb r2, [r1, #(4 * \\j + 3)]\n"
        "    add r5, r8\n"
        "    add r2, r11\n"
        "    ldm r5, {r5, r7}\n"
        "    ldm r2, {r2, r3}\n"
        "    adds r5, r5, r2\n"
        "    ldr r2, [r0, #4]\n"
        "    adds r7, r7, r3\n"
        "    adds r7, r7, r2\n"
        "    eors r7, r2\n"
        "    adds r5, r5, r2\n"
        "    orrs r6, r7\n"
        "    mov r3, r12\n"
        "    tst r6, r3\n"
        "    beq 7f\n"
        "    bl mz_repair\n"
        "7:\n"
        "    stm r0!, {r4, r5}\n"
        ".endm\n"
        MZ_FOURS("4", "62")
    );
}

// For all signs of one of two neighbours under four pairs, first and second, to be added.
static void mz_step_halves(mz_step_t *to, const int32_t *sums, int32_t shift) {
    for (int32_t i = 0; i < 16; ++i) {
        int32_t step = -(sums[i] >> shift);
        to[i].step = (uint32_t)step;
        to[i].far = (uint32_t)mz_far(step);
        to[i + 16].step = to[i].step << 16;
        to[i + 16].far = to[i].far << 16;
    }
}

// Nibbles of a byte as offsets in a table.
#define MZ_OFFSETS 0x78787878

// A row of whole fours under two pairs.
static MZ_BUSY void mz_row_two(int16_t *w, int32_t k, const mz_stream_t *streams, uint32_t next,
    const mz_step_t *table) {
    uint32_t low = mz_factor(MZ_OFFSETS);
    for (; k > 0; k -= 32, w += 32) {
        uint32_t a = mz_word(streams[0], next);
        uint32_t b = mz_word(streams[1], next);
        uint32_t signs[4];
        ++next;
        // A sign belongs to pair p and to element 4q + b: bits b1 b0 q2 q1 q0 of word p become
        // bits q0 b1 q2 b0 p of word q1.
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
