// Weight gradients of one channel of a convolution: sums of h * (x - zero point) over the windows of
// output positions, each with an output gradient h of its own.
#ifndef MZ_WGRAD_H
#define MZ_WGRAD_H

#include "layer.h"

// Positions whose windows are summed together: what fits in the scratch.
#define MZ_WGRAD_CHUNK 96

// Of each position in turn: where its window begins, in bytes from the input, as an input row and
// as a column, perhaps outside the image; its gradient.
typedef struct {
    int32_t at[MZ_WGRAD_CHUNK];
    int32_t row[MZ_WGRAD_CHUNK];
    int32_t h[MZ_WGRAD_CHUNK];
} mz_positions_t;

// In the scratch of a CONV.
typedef struct {
    mz_positions_t all;
    int32_t column[MZ_WGRAD_CHUNK];
    mz_positions_t inside; // those whose windows have the column at hand
} mz_wgrad_room_t;

typedef struct {
    const mz_layer_t *layer;
    bool same; // all positions of a chunk have one h:
    int32_t h;
    bool plain; // no padding: every window lies inside the image
    int32_t n;
    int32_t bias_sum;
    mz_wgrad_room_t *room;
    int32_t *sums; // of the k weights, in the gradient
} mz_wgrad_t;

void mz_wgrad_open(mz_wgrad_t *wgrad, const mz_layer_t *layer, bool same);
// Begins channel c of a gradient, out_c * k weights, then out_c biases: it saturates, so that a
// buffer of any content is safe, then the sums are added to it.
void mz_wgrad_begin(mz_wgrad_t *wgrad, int32_t c, int32_t *grad);
// Adds the windows of the positions put so far.
void mz_wgrad_flush(mz_wgrad_t *wgrad);
// Ends it: the sums, below 2^30 by the caller's limit of h, are complete, and the gradient saturates.
void mz_wgrad_end(mz_wgrad_t *wgrad, int32_t c, int32_t *grad);

// A Q15 error in Q8, rounded half up; in 32 bits, so the last bit that leaves is the rounding.
static inline int32_t mz_error_q8(int32_t err) {
    return (err >> 7) + (err >> 6 & 1);
}

// The error of input k of a dense layer: its column of weights times the errors of the outputs, Q8.
int64_t mz_wgrad_input_error(const mz_layer_t *head, const int32_t *err, int32_t k);
// Adds h * (x - zero point) of a dense layer's input to a row of its gradient, saturated.
#define MZ_WGRAD_ROW_MOST ((1 << 30) / 255)
void mz_wgrad_row(const mz_layer_t *layer, int32_t h, int32_t *row);
// Takes n gradients off the masters, shift halvings of them, 31 at the most; keeps 1 - 2^-decay of
// them, with decay 0 nothing.
void mz_wgrad_step(int32_t *grad, int32_t n, int32_t shift, int32_t decay, int16_t *master);

// Part of the output image.
typedef struct {
    int32_t top, left, h, w;
} mz_cell_t;

// Puts the positions of a cell whose outputs of channel c lie between the limits of their operators,
// of the layer and of `gate`, perhaps the same.
void mz_wgrad_put_cell(mz_wgrad_t *wgrad, const mz_layer_t *gate, int32_t c, mz_cell_t cell, int32_t h);
// Puts a position. Rows come in order: those outside the image are cut off at the ends of a chunk.
void mz_wgrad_put(mz_wgrad_t *wgrad, int32_t oy, int32_t ox, int32_t h);

#endif
