#include "base.h"

int32_t mz_clip(int64_t v, int32_t lo, int32_t hi) {
    return v < lo ? lo : v > hi ? hi : (int32_t)v;
}

int64_t mz_rsh(int64_t v, int32_t n) {
    if (n > 0) {
        return (v + ((int64_t)1 << (n - 1))) >> n;
    }
    return v * ((int64_t)1 << -n);
}
