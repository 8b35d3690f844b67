// What dwconv.c asks of an instruction set that takes four channels at a time.
#ifndef MZ_DEPTHWISE_H
#define MZ_DEPTHWISE_H

#include "arch/arch.h"
#include "output.h"

// Four channels: bias[4], then mult, round, right of each (see mz_scale_t).
typedef struct {
    int32_t bias[4];
    struct {
        int32_t mult, round, right;
    } scale[4];
} mz_quad_t;

// A run of positions of one output row. The order of the fields is known to the assembly.
typedef struct {
    const mz_quad_t *quad;
    const void *w; // [tap][4 channels]
    int8_t *out; // of the first position; NULL: one position, raw sums
    const int8_t *out_end;
    int32_t out_move; // bytes between output positions
    int32_t *raw;
    // What follows differs between the two functions.
    union {
        struct {
            uint8_t *rows[3]; // expanded
            int32_t move; // bytes of them between positions
        } ring;
        struct {
            int32_t cols;
            int32_t w_skip; // bytes of weights between the used parts of two kernel rows
            int32_t x_row; // bytes between input rows
            int32_t x_move; // bytes from the last row of a window to the next window
            int32_t rows;
            const int8_t *x;
            int32_t x_pitch; // bytes between input columns
            int32_t in_zp;
        } direct;
    } from;
} mz_dw_t;

// 3x3 windows in rows of expanded inputs, where padding is cells of zero.
void mz_dw_ring(const mz_dw_t *dw);
// 3x3 windows, channel by channel, for cores with few registers.
void mz_dw_channels(const mz_view_t *view);

#if MZ_DSP
#define MZ_DW_ANY_WINDOW 1
#else
#define MZ_DW_ANY_WINDOW 0
#endif
// Windows of any size in the input as it is, clipped to the image.
void mz_dw_direct(const mz_dw_t *dw);
// Expands n cells of four channels, in_c bytes apart.
void mz_dw_expand(const int8_t *x, int32_t in_c, int32_t n, int32_t zp, void *to);

#endif
