#include "patches.h"
#include "rng.h"

static void gather(const mz_layer_t *l, int32_t where, int16_t *patch) {
    int32_t pitch = l->in_w * l->in_c;
    int32_t row = l->k_w * l->in_c;
    int32_t y = (where >> 15) % (l->in_h - l->k_h + 1);
    int32_t x = (where & 32767) % (l->in_w - l->k_w + 1);
    const int8_t *from = l->in + y * pitch + x * l->in_c;
    for (int32_t ky = 0; ky < l->k_h; ++ky, from += pitch) {
        for (int32_t i = 0; i < row; ++i) {
            *patch++ = from[i];
        }
    }
}

void mz_patch_sums(const mz_layer_t *l, int32_t seed, int32_t sample, int32_t patches, int32_t *sums,
    int32_t *products) {
    int16_t patch[MZ_PATCH_MOST];
    for (int32_t p = 0; p < patches; ++p) {
        gather(l, mz_derive(seed, sample, p), patch);
        uint32_t *to = (uint32_t *)products;
        for (int32_t i = 0; i < l->k; ++i) {
            int32_t v = patch[i];
            sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)v);
            for (const int16_t *other = patch; other <= patch + i; ++other) {
                *to++ += (uint32_t)(v * *other);
            }
        }
    }
}
