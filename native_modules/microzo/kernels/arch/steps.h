// Steps of up to four pairs on a row of masters: the sign bits of an element, that of
// pair j in bit j, choose its step from a table of 16.
#ifndef MZ_STEPS_H
#define MZ_STEPS_H

#include "arch.h"
#include "../update.h"

// Bits i of all bytes of four words and those four above them, as indices: nibble 2b is
// element 4i + b, nibble 2b + 1 element 4i + 16 + b.
static inline uint32_t mz_nibbles(const uint32_t *words, int32_t i) {
    return ((words[0] >> i) & 0x11111111) | ((words[1] >> i) & 0x11111111) << 1
        | ((words[2] >> i) & 0x11111111) << 2 | ((words[3] >> i) & 0x11111111) << 3;
}

static inline void mz_put_master(int16_t *w, int32_t v) {
    if ((uint32_t)(v + MZ_MASTER_LIMIT) > 2 * MZ_MASTER_LIMIT) {
        v = v < 0 ? -MZ_MASTER_LIMIT : MZ_MASTER_LIMIT;
    }
    *w = (int16_t)v;
}

static inline void mz_one_step(int16_t *w, int32_t step) {
    mz_put_master(w, *w - step);
}

// A run of 32.
static inline void mz_run_of_steps(int16_t *w, const uint32_t *words, const int32_t *steps) {
    for (int32_t i = 0; i < 4; ++i) {
        uint32_t v = mz_nibbles(words, i);
        for (int32_t b = 0; b < 4; ++b) {
            mz_one_step(w + b, steps[v & 15]);
            mz_one_step(w + b + 16, steps[(v >> 4) & 15]);
            v >>= 8;
        }
        w += 4;
    }
}

// The first `count` elements of a run, n pairs.
static MZ_BUSY void mz_few_steps(int16_t *w, int32_t count, const uint32_t *words, int32_t n,
    const int32_t *steps) {
    for (int32_t r = 0; r < count; ++r) {
        int32_t index = mz_sign_bit(words[0], r);
        for (int32_t j = 1; j < n; ++j) {
            index |= mz_sign_bit(words[j], r) << j;
        }
        mz_one_step(w + r, steps[index]);
    }
}

#if MZ_DSP

#include "dsp.h"

// Halves of a word move together. (m + 255 - step) saturates at 32767 where m - step
// would pass the upper limit; less 511 it saturates at -32768 for the lower one.
#define MZ_STEP_TOP 255

static inline uint32_t mz_move_pair(uint32_t m, uint32_t t) {
    __asm ("qadd16 %0, %0, %1" : "+r" (m) : "r" (t));
    __asm ("qsub16 %0, %0, %1" : "+r" (m) : "r" (0x01ff01ff));
    return mz_add16(m, 0x01000100);
}

// Elements 4q..4q+3. The top bit of each half of a and b chooses `minus` and is shifted out.
#define MZ_STEP_FOUR(q) \
    __asm volatile ( \
        "ldrd %[m], %[n], [%[at], %[offset]]\n" \
        "uadd16 %[a], %[a], %[a]\n" \
        "sel %[t], %[minus], %[plus]\n" \
        "qadd16 %[m], %[m], %[t]\n" \
        "uadd16 %[b], %[b], %[b]\n" \
        "sel %[t], %[minus], %[plus]\n" \
        "qadd16 %[n], %[n], %[t]\n" \
        "qsub16 %[m], %[m], %[down]\n" \
        "qsub16 %[n], %[n], %[down]\n" \
        "sadd16 %[m], %[m], %[back]\n" \
        "sadd16 %[n], %[n], %[back]\n" \
        "strd %[m], %[n], [%[at], %[offset]]\n" \
        : [a] "+r" (a), [b] "+r" (b), [m] "=&r" (m), [n] "=&r" (n), [t] "=&r" (t) \
        : [at] "r" (at), [offset] "n" (8 * (q)), [plus] "r" (plus), [minus] "r" (minus), \
        [down] "r" (0x01ff01ff), [back] "r" (0x01000100) \
        : "cc", "memory")

// The halves' top bytes: signs of elements 0, 1 and of 2, 3 of each four, the last four on top.
#define MZ_STEP_SIGNS(word) \
    __asm ("pkhbt %0, %1, %2, lsl #16" : "=r" (a) : "r" ((word) << 8), "r" (word)); \
    __asm ("pkhtb %0, %1, %1, asr #8" : "=r" (b) : "r" (word))

// One pair, a row of whole fours; steps are within 16 bits.
static void mz_row_one_pair(int16_t *w, int32_t k, mz_stream_t stream, uint32_t next,
    const int32_t *steps) {
    uint32_t plus = mz_both(MZ_STEP_TOP - steps[0]);
    uint32_t minus = mz_both(MZ_STEP_TOP - steps[1]);
    uint32_t a, b, m, n, t;
    int16_t *at = w;
    // One addition less in each word.
    next += stream.key1;
    stream.key1 = 0;
    for (int16_t *end = w + (k & ~31); at != end; at += 32) {
        uint32_t word = mz_word(stream, next++);
        MZ_STEP_SIGNS(word);
        MZ_STEP_FOUR(7);
        MZ_STEP_FOUR(6);
        MZ_STEP_FOUR(5);
        MZ_STEP_FOUR(4);
        MZ_STEP_FOUR(3);
        MZ_STEP_FOUR(2);
        MZ_STEP_FOUR(1);
        MZ_STEP_FOUR(0);
    }
    if (k & 31) {
        uint32_t word = mz_word(stream, next) << (8 - (k & 31) / 4);
        MZ_STEP_SIGNS(word);
        for (int16_t *begin = at, *end = at + (k & 31); end != begin;) {
            end -= 4;
            at = end;
            MZ_STEP_FOUR(0);
        }
    }
}

// Takes the top bits of the halves of both s and u away; they are bits 0 and 1 of the choice.
static inline uint32_t mz_choose_four(uint32_t *s, uint32_t *u, uint32_t t0, uint32_t t1, uint32_t t2,
    uint32_t t3) {
    uint32_t low, high;
    __asm (
        "uadd16 %[s], %[s], %[s]\n"
        "sel %[low], %[t1], %[t0]\n"
        "sel %[high], %[t3], %[t2]\n"
        "uadd16 %[u], %[u], %[u]\n"
        "sel %[low], %[high], %[low]\n"
        : [s] "+&r" (*s), [u] "+&r" (*u), [low] "=&r" (low), [high] "=&r" (high)
        : [t0] "r" (t0), [t1] "r" (t1), [t2] "r" (t2), [t3] "r" (t3) : "cc");
    return low;
}

// Two pairs, a row of whole fours; tops[i]: 255 - step of the signs i.
static void mz_row_two_pairs(int16_t *w, int32_t k, const mz_stream_t *streams, uint32_t next,
    const int16_t *tops) {
    uint32_t t0 = mz_both(tops[0]), t1 = mz_both(tops[1]), t2 = mz_both(tops[2]), t3 = mz_both(tops[3]);
    mz_word_t *at = (mz_word_t *)(void *)w;
    for (; k > 0; k -= 32) {
        int32_t fours = mz_min(k / 4, 8);
        uint32_t a, b, c, d;
        uint32_t word = mz_word(streams[0], next) << (8 - fours);
        MZ_STEP_SIGNS(word);
        c = a;
        d = b;
        word = mz_word(streams[1], next++) << (8 - fours);
        MZ_STEP_SIGNS(word);
        for (mz_word_t *from = at + 2 * fours; from != at;) {
            from -= 2;
            from[0] = mz_move_pair(from[0], mz_choose_four(&c, &a, t0, t1, t2, t3));
            from[1] = mz_move_pair(from[1], mz_choose_four(&d, &b, t0, t1, t2, t3));
        }
        at += 16;
    }
}

static inline uint32_t mz_two_steps(const int16_t *t, uint32_t v) {
    return mz_pkhbt_16((uint32_t)t[v & 15], (uint32_t)t[(v >> 8) & 15]);
}

// A run of 32 on whole words; t: 255 - step.
static void mz_run_of_halves(int16_t *w, const uint32_t *words, const int16_t *t) {
    mz_word_t *at = (mz_word_t *)(void *)w;
    for (int32_t i = 0; i < 4; ++i) {
        uint32_t v = mz_nibbles(words, i);
        at[0] = mz_move_pair(at[0], mz_two_steps(t, v));
        at[8] = mz_move_pair(at[8], mz_two_steps(t, v >> 4));
        at[1] = mz_move_pair(at[1], mz_two_steps(t, v >> 16));
        at[9] = mz_move_pair(at[9], mz_two_steps(t, v >> 20));
        at += 2;
    }
}

// One pair, a row of any length: those of few weights.
static MZ_RARE void mz_row_any(int16_t *w, int32_t k, mz_stream_t stream, uint32_t next,
    const int32_t *steps) {
    uint32_t word = 0;
    for (int32_t r = 0; r < k; ++r) {
        if ((r & 31) == 0) {
            word = mz_word(stream, next++);
        }
        mz_one_step(w + r, steps[mz_sign_bit(word, r)]);
    }
}

#else

// A master plus `base`, less `more` if bit 8 * b of the word is set. On Cortex-M0+ base is
// from the lower limit: one comparison does for both.
static inline void mz_choose_step(int16_t *w, uint32_t word, int32_t b, int32_t base, int32_t more) {
#if MZ_THUMB1
    int32_t mask = (int32_t)(word << (31 - 8 * b)) >> 31;
    int32_t v = *w + base - (mask & more);
    if ((uint32_t)v > 2 * MZ_MASTER_LIMIT) {
        v = v < 0 ? 0 : 2 * MZ_MASTER_LIMIT;
    }
    *w = (int16_t)(v - MZ_MASTER_LIMIT);
#else
    int32_t v = *w + base;
    mz_put_master(w, v - more * (int32_t)((word >> (8 * b)) & 1));
#endif
}

// One pair, a row of any length.
static void mz_row_any(int16_t *w, int32_t k, mz_stream_t stream, uint32_t next,
    const int32_t *steps) {
#if MZ_THUMB1
    int32_t base = MZ_MASTER_LIMIT - steps[0];
#else
    int32_t base = -steps[0];
#endif
    int32_t more = steps[1] - steps[0];
    while (k > 0) {
        uint32_t word = mz_word(stream, next++);
        int32_t left = mz_min(k, 32);
        k -= left;
        for (; left >= 4; left -= 4) {
            mz_choose_step(w, word, 0, base, more);
            mz_choose_step(w + 1, word, 1, base, more);
            mz_choose_step(w + 2, word, 2, base, more);
            mz_choose_step(w + 3, word, 3, base, more);
            word >>= 1;
            w += 4;
        }
        for (; left > 0; --left) {
            mz_choose_step(w++, word, 0, base, more);
            word >>= 8;
        }
    }
}

#endif

#endif
