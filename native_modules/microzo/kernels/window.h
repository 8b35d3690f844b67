// The part of a kernel window that lies inside the image.
#ifndef MZ_WINDOW_H
#define MZ_WINDOW_H

#include "base.h"

typedef struct {
    int32_t lo, hi; // kernel cells lo <= k < hi are inside
    int32_t at; // image coordinate of cell lo
} mz_window_t;

static inline mz_window_t mz_window(int32_t out, int32_t stride, int32_t pad, int32_t k, int32_t in) {
    mz_window_t window;
    int32_t start = out * stride - pad;
    window.lo = mz_min(mz_max(-start, 0), k);
    window.hi = mz_max(mz_min(in - start, k), window.lo);
    window.at = start + window.lo;
    return window;
}

// The same for a kernel whose cells lie `apart` image cells from one another.
mz_window_t mz_taps(int32_t out, int32_t stride, int32_t pad, int32_t k, int32_t in, int32_t apart);

#endif
