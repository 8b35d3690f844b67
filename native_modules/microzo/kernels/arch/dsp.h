// Instructions of the Arm DSP extension that the kernels use, one function each. A
// "pair" is a word of two int16; four neighbours r..r+3 lie in the pairs (r, r+2) and
// (r+1, r+3), because that is how SXTB16 takes a word of bytes apart.
#ifndef MZ_DSP_H
#define MZ_DSP_H

#include <stdint.h>

#define MZ_DSP_1(name, text) \
    static inline uint32_t name(uint32_t a) { \
        uint32_t r; \
        __asm (text : "=r" (r) : "r" (a)); \
        return r; \
    }

#define MZ_DSP_2(name, text) \
    static inline uint32_t name(uint32_t a, uint32_t b) { \
        uint32_t r; \
        __asm (text : "=r" (r) : "r" (a), "r" (b)); \
        return r; \
    }

#define MZ_DSP_3(name, text) \
    static inline uint32_t name(uint32_t a, uint32_t b, uint32_t c) { \
        uint32_t r; \
        __asm (text : "=r" (r) : "r" (a), "r" (b), "r" (c)); \
        return r; \
    }

MZ_DSP_2(mz_sxtab16, "sxtab16 %0, %1, %2")
MZ_DSP_2(mz_sxtab16_8, "sxtab16 %0, %1, %2, ror #8")
MZ_DSP_2(mz_uxtab16, "uxtab16 %0, %1, %2")
MZ_DSP_2(mz_uxtab16_8, "uxtab16 %0, %1, %2, ror #8")
MZ_DSP_1(mz_sxtb16, "sxtb16 %0, %1")
MZ_DSP_1(mz_sxtb16_8, "sxtb16 %0, %1, ror #8")
MZ_DSP_2(mz_pkhbt_16, "pkhbt %0, %1, %2, lsl #16") // (a low, b low)
MZ_DSP_2(mz_pkhtb_16, "pkhtb %0, %1, %2, asr #16") // (b high, a high)
MZ_DSP_2(mz_add16, "sadd16 %0, %1, %2")
// c + (a * half of b >> 16)
MZ_DSP_3(mz_smlawb, "smlawb %0, %1, %2, %3")
MZ_DSP_3(mz_smlawt, "smlawt %0, %1, %2, %3")
// c + products of halves
MZ_DSP_3(mz_smlad, "smlad %0, %1, %2, %3")
MZ_DSP_3(mz_smlabb, "smlabb %0, %1, %2, %3")
MZ_DSP_3(mz_smlatt, "smlatt %0, %1, %2, %3")

static inline int32_t mz_smmulr(int32_t a, int32_t b) {
    int32_t r;
    __asm ("smmulr %0, %1, %2" : "=r" (r) : "r" (a), "r" (b));
    return r;
}

// Both halves v, which must fit in 16 bits.
static inline uint32_t mz_both(int32_t v) {
    return ((uint32_t)v & 0xffff) * 0x00010001u;
}

#endif
