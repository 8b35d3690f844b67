// Steps of masters, two halves of a word at a time; rows of one or two pairs.
#ifndef MZ_STEPS_H
#define MZ_STEPS_H

#include "arch.h"
#include "../update.h"
#if MZ_DSP
#include "dsp.h"
#endif

static inline int16_t mz_limit(int32_t v) {
    if ((uint32_t)(v + MZ_MASTER_LIMIT) > 2 * MZ_MASTER_LIMIT) {
        v = v < 0 ? -MZ_MASTER_LIMIT : MZ_MASTER_LIMIT;
    }
    return (int16_t)v;
}

// Steps are sums shifted right.
static inline void mz_move_any(int16_t *w, const int32_t *sum, int32_t count, int32_t shift) {
    for (int32_t r = 0; r < count; ++r) {
        w[r] = mz_limit(w[r] - (sum[r] >> shift));
    }
}

// Bits of a that are `by` above those of the mask change places with those of b in the mask.
static inline void mz_swap_bits(uint32_t *a, uint32_t *b, int32_t by, uint32_t mask) {
    uint32_t t = ((*a >> by) ^ *b) & mask;
    *b ^= t;
    *a ^= t << by;
}

// Two neighbours move together: mz_halves makes one number of their steps, which are at most
// MZ_STEP_MOST.
#if MZ_DSP

#define MZ_STEP_MOST 32000

// m - step saturates beyond the limits; plus 255, at the upper one; less 511, at the lower one.
static inline uint32_t mz_move_pair(uint32_t m, uint32_t halves) {
    __asm ("qsub16 %0, %0, %1" : "+r" (m) : "r" (halves));
    __asm ("qadd16 %0, %0, %1" : "+r" (m) : "r" (0x00ff00ff));
    __asm ("qsub16 %0, %0, %1" : "+r" (m) : "r" (0x01ff01ff));
    return mz_add16(m, 0x01000100);
}

// Whether four masters were moved: always.
static inline bool mz_move_four(mz_word_t *at, uint32_t steps, uint32_t more) {
    at[0] = mz_move_pair(at[0], steps);
    at[1] = mz_move_pair(at[1], more);
    return true;
}

static inline uint32_t mz_halves(int32_t a, int32_t b) {
    return mz_pkhbt_16((uint32_t)a, (uint32_t)b);
}

// Whole fours on whole words, small steps; r4..r7: sums, then steps and masters.
static MZ_BUSY void mz_move_fours(int16_t *w, const int32_t *sum, int32_t count, int32_t shift) {
    for (int16_t *end = w + count; w != end;) {
        __asm volatile (
            "ldm %[sum]!, {r4-r7}\n"
            ".irp s, r4, r5, r6, r7\n"
            "asr \\s, \\s, %[shift]\n"
            ".endr\n"
            "pkhbt r4, r4, r5, lsl #16\n"
            "pkhbt r5, r6, r7, lsl #16\n"
            "ldrd r6, r7, [%[w]]\n"
            "qsub16 r6, r6, r4\n"
            "qsub16 r7, r7, r5\n"
            ".irp m, r6, r7\n"
            "qadd16 \\m, \\m, %[up]\n"
            "qsub16 \\m, \\m, %[down]\n"
            "sadd16 \\m, \\m, %[back]\n"
            ".endr\n"
            "strd r6, r7, [%[w]], #8\n"
            : [w] "+r" (w), [sum] "+r" (sum)
            : [shift] "r" (shift), [up] "r" (0x00ff00ff), [down] "r" (0x01ff01ff), [back] "r" (0x01000100)
            : "r4", "r5", "r6", "r7", "memory");
    }
}

#else

// Masters plus 2^15 are 256 away from the ends of 16 bits.
#define MZ_STEP_MOST 255

// Top bits of the halves that left the limits, or are on the upper one.
static inline uint32_t mz_left_limits(uint32_t v) {
    uint32_t up = v + 0x01000100;
#if MZ_THUMB2
    __asm ("" : "+r" (up)); // else the compiler makes ~up anew
#endif
    return (v - 0x01000100) & ~up;
}

// Whether four masters were moved: not if one of them must be clamped.
static inline bool mz_move_four(mz_word_t *at, uint32_t steps, uint32_t more) {
    uint32_t v = (at[0] ^ 0x80008000) - steps;
    uint32_t u = (at[1] ^ 0x80008000) - more;
    if ((mz_left_limits(v) | mz_left_limits(u)) & 0x80008000) {
        return false;
    }
    at[0] = v ^ 0x80008000;
    at[1] = u ^ 0x80008000;
    return true;
}

static inline uint32_t mz_halves(int32_t a, int32_t b) {
    return (uint32_t)a + ((uint32_t)b << 16);
}

// Whole fours on whole words, small steps.
static MZ_BUSY void mz_move_fours(int16_t *w, const int32_t *sum, int32_t count, int32_t shift) {
    for (int16_t *end = w + count; w != end; w += 4, sum += 4) {
        uint32_t steps = mz_halves(sum[0] >> shift, sum[1] >> shift);
        uint32_t more = mz_halves(sum[2] >> shift, sum[3] >> shift);
        if (!mz_move_four((mz_word_t *)(void *)w, steps, more)) {
            mz_move_any(w, sum, 4, shift);
        }
    }
}

#endif

#if !MZ_WORDS

// A row of whole eights under one pair whose steps are +-step: v is a word of masters, or its
// complement where they go up, plus 2^15, so that all go down and only one limit can be left.
static MZ_BUSY void mz_row_one(int16_t *w, int32_t k, mz_stream_t stream, uint32_t next, int32_t step) {
    uint32_t flip = step < 0 ? 0xffffffff : 0;
    uint32_t down = mz_halves(step < 0 ? -step : step, step < 0 ? -step : step);
    for (; k > 0; k -= 32) {
        uint32_t word = mz_word(stream, next++) ^ flip;
        uint32_t low = (word & 0xff) | (word & 0xff00) << 8;
        uint32_t high = ((word >> 16) & 0xff) | (word >> 24) << 16;
        for (int16_t *end = w + mz_min(k, 32); w != end; w += 8) {
            mz_word_t *at = (mz_word_t *)(void *)w;
            uint32_t left = 0;
            #pragma GCC unroll 4
            for (int32_t i = 0; i < 4; ++i) {
                uint32_t turn = 0x80008000 - (((i & 1 ? high : low) >> (i >> 1)) & 0x00010001);
                uint32_t v = (at[i] ^ turn) - down;
                left |= (v - 0x01000100) & ~v;
                at[i] = v ^ turn;
            }
            if (left & 0x80008000) {
                for (int32_t i = 0; i < 8; ++i) {
                    w[i] = mz_limit(w[i]);
                }
            }
            low >>= 2;
            high >>= 2;
        }
    }
}

#endif

#if MZ_THUMB1
#include "thumb1_steps.h"
#elif MZ_THUMB2 && !MZ_DSP
#include "thumb2_steps.h"
#endif

#if !MZ_THUMB1

// A row of whole eights under up to two pairs; steps[i + 4 * j]: those of neighbours with signs
// i and j, as mz_halves makes them.
static MZ_BUSY void mz_row_two(int16_t *w, int32_t k, const mz_stream_t *streams, int32_t n, uint32_t next,
    const uint32_t *steps) {
    for (; k > 0; k -= 32) {
        uint32_t even = mz_word(streams[0], next);
        uint32_t odd = n > 1 ? mz_word(streams[1], next) : 0;
        ++next;
        // Two bits of both words side by side: those of fours 0, 2, 4, 6 and those between.
        mz_swap_bits(&even, &odd, 1, 0x55555555);
        for (int16_t *end = w + mz_min(k, 32); w != end;) {
            #pragma GCC unroll 2
            for (int32_t half = 0; half < 2; ++half) {
                uint32_t v = (half ? odd : even) & 0x03030303;
                uint32_t both = v | v >> 6;
                if (!mz_move_four((mz_word_t *)(void *)w, steps[both & 15], steps[(both >> 16) & 15])) {
                    for (int32_t i = 0; i < 4; ++i, v >>= 8) {
                        w[i] = mz_limit(w[i] - (int16_t)steps[v & 3]);
                    }
                }
                w += 4;
            }
            even >>= 2;
            odd >>= 2;
        }
    }
}

#endif

#if MZ_DSP

// What mz_row_one reads; the order of the fields is known to it.
typedef struct {
    uint32_t plus, minus; // 255 - step, twice in a word
    uint32_t down, back;
    uint32_t hash1, key2, hash2; // constants of mz_word
} mz_one_t;

// A row of whole sixteens under one pair, from its end. r0 end of the row, r1 weights to go, r2
// the last word's number with key1, r3 a temporary, r4..r7 masters, r8..r11 the first words of
// the struct, the others on the stack. The top bit of each half of r12 and lr, the signs of
// elements 0, 1 and 2, 3 of a four, chooses its step and is shifted out.
__attribute__((naked, noinline)) static void mz_row_one(int16_t *end, int32_t k, uint32_t last,
    const mz_one_t *one) {
    __asm volatile (
        ".syntax unified\n"
        ".macro mz_pair w:req, signs:req\n"
        "    uadd16 \\signs, \\signs, \\signs\n"
        "    sel r3, r9, r8\n"
        "    qadd16 \\w, \\w, r3\n"
        "    qsub16 \\w, \\w, r10\n"
        "    sadd16 \\w, \\w, r11\n"
        ".endm\n"
        "    push {r4-r11, lr}\n"
        "    ldm r3, {r4-r10}\n"
        "    push {r8-r10}\n"
        "    mov r8, r4\n"
        "    mov r9, r5\n"
        "    mov r10, r6\n"
        "    mov r11, r7\n"
        "1:\n"
        "    ldm sp, {r4-r6}\n"
        "    eor r3, r2, r2, lsr #16\n"
        "    mla r3, r3, r4, r5\n"
        "    eor r3, r3, r3, lsr #15\n"
        "    mul r3, r3, r6\n"
        "    eor r3, r3, r3, lsr #16\n"
        "    subs r2, #1\n"
        "    tst r1, #16\n"
        "    it ne\n"
        "    lslne r3, #4\n"
        "    lsl r12, r3, #8\n"
        "    pkhbt r12, r12, r3, lsl #16\n"
        "    pkhtb lr, r3, r3, asr #8\n"
        "2:\n"
        "    .rept 2\n"
        "    ldmdb r0!, {r4-r7}\n"
        "    mz_pair r6, r12\n"
        "    mz_pair r7, lr\n"
        "    mz_pair r4, r12\n"
        "    mz_pair r5, lr\n"
        "    stm r0, {r4-r7}\n"
        "    .endr\n"
        "    subs r1, #16\n"
        "    tst r1, #16\n"
        "    bne 2b\n"
        "    cmp r1, #0\n"
        "    bne 1b\n"
        "    add sp, #12\n"
        "    pop {r4-r11, pc}\n"
        ".purgem mz_pair\n"
    );
}

#endif

#endif
