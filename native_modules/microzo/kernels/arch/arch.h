// Selects the inner loops for the target at compile time. Every variant gives the
// bits of portable.h, which always remains: -DMZ_PORTABLE=1 chooses it anywhere.
#ifndef MZ_ARCH_H
#define MZ_ARCH_H

#include "portable.h"

#if !defined(MZ_PORTABLE) && defined(__arm__) && defined(__thumb2__)
#define MZ_THUMB2 1 // Cortex-M3 and above
#if defined(__ARM_FEATURE_SIMD32)
#define MZ_DSP 1 // Cortex-M4, M7, M33
#endif
#endif
#if !MZ_DSP
#undef MZ_DSP
#define MZ_DSP 0
#endif

// Four activations are handled as a word.
#if !defined(MZ_PORTABLE) && defined(__arm__)
#define MZ_WORDS 1
#else
#define MZ_WORDS 0
#endif

#if !defined(MZ_PORTABLE) && defined(__riscv) && __riscv_xlen == 32
#define MZ_RV32 1 // 31 registers, no instructions for parts of words
#else
#define MZ_RV32 0
#endif

// 256-bit vectors: the host library has its kernels twice, and chooses when it is loaded.
#if !defined(MZ_PORTABLE) && defined(__AVX2__)
#define MZ_AVX2 1
#else
#define MZ_AVX2 0
#endif

// Four bytes of a buffer are summed as a word, on little-endian cores of 32 bits.
#if MZ_WORDS || MZ_RV32
#define MZ_LANES 1
#else
#define MZ_LANES 0
#endif

// Convolutions go through columns.c instead of conv.c; on Arm 3x3 depthwise and dense layers through
// assembly.
#if MZ_THUMB2 || MZ_RV32
#define MZ_COLUMNS 1
#elif MZ_WORDS
#define MZ_THUMB1 1 // Cortex-M0+
#define MZ_COLUMNS 1
#endif

// Words of buffers that other code sees as bytes or halfwords.
typedef uint32_t __attribute__((may_alias)) mz_word_t;

#endif
