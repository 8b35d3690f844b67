// Convolution as products of a tile of weights and columns of inputs: what columns.c
// asks of the instruction set. Weights are packed by quads (four channels), inputs of
// two positions expanded side by side; each of them is used by all quads of a group.
#ifndef MZ_COLUMNS_H
#define MZ_COLUMNS_H

#include "arch/arch.h"
#include "output.h"
#include "pack.h"

#if MZ_THUMB2 || MZ_RV32
#define MZ_BIAS_SCALE 2
#else
#define MZ_BIAS_SCALE 1
#endif

// One output channel: v = (2 * (bias + sum) * mult) >> 32 rounded, then
// out = sat8((v - (v < 0) + round) >> right), exact for 1 <= right <= 22.
typedef struct {
    int32_t bias2; // bias * MZ_BIAS_SCALE
    int32_t mult;
    int32_t round; // half, and the zero point
    int32_t right;
} mz_scale_t;

// A run of the inner loop, two positions and several quads. The order of the fields
// is known to the assembly.
typedef struct {
    const void *column;
    const void *column_end;
    uint32_t skip; // bytes of code to jump over on the first round
    int8_t *out; // of the first position; NULL: raw sums are wanted
    int32_t apart; // bytes from there to the second position, less one
    const void *end; // of the stream
    int32_t *raw; // sums of one quad: channel by channel, both positions
    const void *stream; // quads: weights, then four mz_scale_t
    int32_t sums[2]; // of the two columns, as mz_column_pair left them
    int32_t planes; // bytes that a weight is split into, where that is needed
} mz_gemm_t;

// Prepares what depends on the layer alone; returns the bytes of a quad's weights.
int32_t mz_gemm_open(mz_gemm_t *gemm, const mz_view_t *view, const void *column);
void mz_gemm(const mz_gemm_t *gemm);
void mz_conv_columns(const mz_view_t *view);
// Packs rows first..first+n-1 as the weights of a quad; a short quad repeats its last row.
void mz_quad_pack(const mz_pack_t *pack, int32_t first, int32_t n, void *weights);
// The byte runs x and y of n cells (a multiple of four), less the zero point, side by
// side; returns the end of what it wrote.
void *mz_column_pair(const int8_t *x, const int8_t *y, int32_t n, int32_t zp, void *column,
    int32_t *sums);
// What must be added to the sums of row i of a quad beside the bias.
int32_t mz_quad_offset(const mz_pack_t *pack, const void *weights, int32_t i);

#endif
