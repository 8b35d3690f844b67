#include "window.h"

MZ_RARE mz_window_t mz_taps(int32_t out, int32_t stride, int32_t pad, int32_t k, int32_t in,
    int32_t apart) {
    mz_window_t window;
    int32_t start = out * stride - pad;
    int32_t lo = mz_max(-start, 0);
    int32_t hi = mz_max(in - start, 0);
    if (apart > 1) { // a core may have no division
        lo = (lo + apart - 1) / apart;
        hi = (hi + apart - 1) / apart;
    }
    window.lo = mz_min(lo, k);
    window.hi = mz_max(mz_min(hi, k), window.lo);
    window.at = start + window.lo * apart;
    return window;
}
