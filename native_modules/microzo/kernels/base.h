// Small exact helpers that every kernel shares. Integer only, no library calls.
#ifndef MZ_BASE_H
#define MZ_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

// On a board, code that real networks hardly run is small instead of fast; busy code is
// where the compiler guesses wrongly.
#if defined(__arm__)
#define MZ_RARE __attribute__((cold, noinline))
#define MZ_BUSY __attribute__((hot, noinline))
#else
#define MZ_RARE
#define MZ_BUSY
#endif

#define MZ_SEED_LIMIT (1 << 30)

static inline int32_t mz_min(int32_t a, int32_t b) {
    return a < b ? a : b;
}

static inline int32_t mz_max(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static inline int32_t mz_sat(int32_t v, int32_t lo, int32_t hi) {
    return v < lo ? lo : v > hi ? hi : v;
}

static inline int64_t mz_sat64(int64_t v, int64_t lo, int64_t hi) {
    return v < lo ? lo : v > hi ? hi : v;
}

static inline bool mz_within(int32_t v, int32_t lo, int32_t hi) {
    return v >= lo && v <= hi;
}

// 64 bits to a range of 32, in fewer bytes than mz_sat64.
int32_t mz_clip(int64_t v, int32_t lo, int32_t hi);
// Rounding shift, half up; a negative count shifts left. |v| < 2^55, n <= 62.
int64_t mz_rsh(int64_t v, int32_t n);

// 64-bit division without libgcc: rare, so small instead of fast.
uint64_t mz_udiv64(uint64_t a, uint64_t b, uint64_t *rem);
int64_t mz_floor_div(int64_t a, int64_t b, int64_t *rem);
// floor((2a + b) / 2b): division rounding half up, b > 0.
int64_t mz_rdiv(int64_t a, int64_t b);
uint32_t mz_isqrt(uint64_t v);

#endif
