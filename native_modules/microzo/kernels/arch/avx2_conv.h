#ifndef MZ_AVX2_CONV_H
#define MZ_AVX2_CONV_H

#include "../pass.h"

// False, and nothing done, for a layer that is dilated or too large for its buffers.
bool mz_avx2_conv(const mz_view_t *view);

#endif
