// What dense.c asks of the instruction set: products of four rows with one input.
#ifndef MZ_DENSE_H
#define MZ_DENSE_H

#include "pass.h"

typedef struct {
    const void *x; // expanded input, see mz_dense_expand
    const void *rows[4];
    int32_t acc[4]; // added to
    const void *x_end;
    uint32_t skip; // bytes of code to jump over on the first round
    uint32_t mask; // of the pairs of wide rows
} mz_dot4_t;

// Rows of int8; of masters, rounded to int8; of int16 whose low bits are masked out.
void mz_dot4_int8(mz_dot4_t *dot);
void mz_dot4_master(mz_dot4_t *dot);
void mz_dot4_wide(mz_dot4_t *dot);
// Makes `dot` start at cell `begin` and end at `end` of an expanded input.
void mz_dot4_range(mz_dot4_t *dot, int kind, const void *x, int32_t begin, int32_t end);

enum {
    MZ_ROWS_INT8,
    MZ_ROWS_MASTER,
    MZ_ROWS_WIDE,
};

// Expands k inputs less the zero point for rows of that kind, zeros up to k4. If bytes are
// wanted: x + 128, zeros up to a multiple of 32; then the sum of the inputs is returned.
int32_t mz_dense_expand(const mz_layer_t *layer, int kind, void *expanded, uint8_t *bytes);

// Sums of x + 128 over the inputs whose sign is -1, for four rows of signs.
typedef struct {
    const uint8_t *bytes;
    int32_t words; // sign words in a row
    mz_stream_t stream;
    uint32_t next[4]; // first word of each row
    uint32_t last_mask; // signs of the last word that belong to inputs
    bool counts; // whether `count` is wanted
    int32_t sum[4];
    int32_t count[4]; // number of those inputs
} mz_minus4_t;

void mz_minus4(mz_minus4_t *minus);

#endif
