#include "requant.h"

int32_t mz_requant_left(int32_t acc, int32_t mult, int32_t shift) {
    int64_t left = (int64_t)acc * ((int64_t)1 << shift);
    return mz_high((int32_t)mz_sat64(left, INT32_MIN, INT32_MAX), mult);
}
