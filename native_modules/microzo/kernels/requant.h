// Requantization as TFLite's reference kernels round it (SPEC.md 1.2).
#ifndef MZ_REQUANT_H
#define MZ_REQUANT_H

#include "base.h"
#include "arch/arch.h"
#if MZ_THUMB1
#include "arch/thumb1.h"
#elif MZ_DSP
#include "arch/dsp.h"
#endif

#define MZ_MULT_MIN (1 << 30)
#define MZ_SHIFT_MIN (-31)
#define MZ_SHIFT_MAX 30

static inline bool mz_mult_ok(int32_t mult) {
    return mult == 0 || mult >= MZ_MULT_MIN;
}

static inline bool mz_shift_ok(int32_t shift) {
    return mz_within(shift, MZ_SHIFT_MIN, MZ_SHIFT_MAX);
}

// High part of acc * mult * 2, rounded half up; mult >= 0.
static inline int32_t mz_high(int32_t acc, int32_t mult) {
#if MZ_THUMB1
    return mz_high_parts(acc, (uint16_t)mult, mult >> 16);
#endif
    return (int32_t)(((int64_t)acc * mult + ((int64_t)1 << 30)) >> 31);
}

// The same for |acc| < 2^30; some number for any other.
static inline int32_t mz_high_small(int32_t acc, int32_t mult) {
#if MZ_DSP
    return mz_smmulr((int32_t)(2 * (uint32_t)acc), mult);
#elif MZ_THUMB2 || MZ_RV32
    int64_t v = (int64_t)(int32_t)(2 * (uint32_t)acc) * mult;
    return (int32_t)(v >> 32) + (int32_t)((uint32_t)v >> 31);
#else
    return mz_high(acc, mult);
#endif
}

static inline int32_t mz_sat8(int32_t v) {
#if MZ_THUMB2
    __asm ("ssat %0, #8, %0" : "+r" (v));
    return v;
#endif
    return mz_sat(v, -128, 127);
}

// For shift >= 0, which real layers hardly have.
int32_t mz_requant_left(int32_t acc, int32_t mult, int32_t shift);

// Right shift by right + 1, right in [0, 31].
static inline int32_t mz_round_right(int32_t x, int32_t right) {
    // Half away from zero: halves of negative numbers are moved below the half, then all
    // but one bit is dropped, then the last with rounding. |x| < 2^31 - 1, so nothing
    // overflows, and a right shift by more than 32 gives 0 as one by 32 does.
    x += x >> 31;
    x >>= right;
    return (x + 1) >> 1;
}

// mult >= 0, shift in [-39, 30] (16w8a takes up to 8 from the shift).
static inline int32_t mz_requant(int32_t acc, int32_t mult, int32_t shift) {
    if (shift >= 0) {
        return mz_requant_left(acc, mult, shift);
    }
    return mz_round_right(mz_high(acc, mult), mz_min(-1 - shift, 31));
}

// acc * mult shifted right by 32 + right, right in [1, 30], with one rounding, half away from zero.
static inline int32_t mz_round_once(int32_t acc, int32_t mult, int32_t right) {
    int64_t p = (int64_t)acc * mult;
    p += p >> 63; // halves of negative numbers are moved below the half; then the high word is enough
    return ((int32_t)(p >> 32) + (1 << (right - 1))) >> right;
}

// One rounding, half away from zero, for layers with ROUND_ONCE.
int32_t mz_requant_once(int32_t acc, int32_t mult, int32_t shift);

#endif
