// Arithmetic that Cortex-M0+ lacks.
#ifndef MZ_THUMB1_H
#define MZ_THUMB1_H

#include <stdint.h>

// (2 * acc * mult + 2^31) >> 32 from 16-bit parts; mult = high * 2^16 + low, not negative.
static inline int32_t mz_high_parts(int32_t acc, int32_t low, int32_t high) {
    int32_t a = acc >> 16;
    uint32_t b = (uint16_t)acc;
    // None of these sums leaves 32 bits.
    int32_t middle = a * low + (int32_t)((b * (uint32_t)low) >> 16);
    uint32_t other = b * (uint32_t)high + (uint16_t)middle;
    int32_t top = 2 * (a * high + (middle >> 16));
    // The last bit that is shifted out is the carry, which rounds half up.
    __asm (
        ".syntax unified\n"
        "lsrs %1, %1, #15\n"
        "adcs %0, %0, %1\n"
        : "+l" (top), "+l" (other) : : "cc");
    return top;
}

// As the fast ends of the other cores: see mz_scale_t.
static inline int32_t mz_scaled(int32_t acc, int32_t low, int32_t high, int32_t round, int32_t right) {
    int32_t v = mz_high_parts(acc, low, high);
    v = (v + (v >> 31) + round) >> right;
    if ((int8_t)v != v) {
        v = (v >> 31) ^ 127;
    }
    return v;
}

#endif
