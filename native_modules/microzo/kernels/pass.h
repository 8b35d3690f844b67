// What a pass does to the layers: precision, perturbation, statistics.
#ifndef MZ_PASS_H
#define MZ_PASS_H

#include "layer.h"
#include "rng.h"

enum {
    MZ_MODE_WIDE = 1, // 16w8a
    MZ_MODE_ONE_SIDED = 2,
    MZ_MODE_KEEP = 4, // of mz_probe
};

typedef struct {
    int32_t mode;
    int32_t sign; // +1, -1, or 0: no perturbation
    int32_t seed;
    int32_t what;
    int32_t lo, hi; // operators that are perturbed
    int32_t eps_shift;
} mz_pass_t;

// One layer as one pass reads it.
typedef struct {
    const mz_layer_t *layer;
    bool wide; // masters are read with f extra bits
    int32_t f;
    int32_t eps; // of the weights, with the sign of the pass; 0: unperturbed
    int32_t bias_sign; // +1, -1, or 0
    mz_stream_t weight_stream;
    mz_stream_t bias_stream;
    int32_t scale_sign; // +1, -1, or 0
    mz_stream_t scale_stream;
    int64_t *sums; // statistics: S1[out_c], S2[out_c] instead of outputs, or NULL
    int32_t sum_shift;
} mz_view_t;

// One output channel as one pass reads it.
typedef struct {
    int32_t bias;
    int32_t mult, shift;
    int32_t lmult, lshift; // if the layer makes logits
} mz_channel_t;

void mz_pass_plain(mz_pass_t *pass, int32_t mode);
void mz_view_open(mz_view_t *view, const mz_layer_t *layer, int32_t index, const mz_pass_t *pass);
// Channels c..c+n-1.
void mz_channels_load(const mz_view_t *view, int32_t c, int32_t n, mz_channel_t *channels);
// Values as they stand, made safe: a hostile buffer gives wrong numbers, not overflow.
int32_t mz_layer_bias(const mz_layer_t *layer, int32_t c);
int32_t mz_layer_mult(const mz_layer_t *layer, int32_t c);
int32_t mz_layer_shift(const mz_layer_t *layer, int32_t c);
// A multiplier that left [2^30, 2^31) by at most a factor of two comes back, with its shift.
void mz_renormalize(int64_t v, int32_t *mult, int32_t *shift);
// Perturbation size of a bias, eb[c] of SPEC.md 1.5.
int32_t mz_bias_eps(const mz_layer_t *layer, int32_t c);

#endif
