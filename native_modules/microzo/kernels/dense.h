// What dense.c asks of the instruction set: products of a few rows with one input.
#ifndef MZ_DENSE_H
#define MZ_DENSE_H

#include "arch/arch.h"
#include "pass.h"

// Rows at a time: as many as the registers hold. Channels whose outputs are made together: whole
// fours and whole rounds of rows.
#if MZ_THUMB2 && !MZ_DSP
#define MZ_ROWS 5
#define MZ_BLOCK 20
#else
#define MZ_ROWS 2
#define MZ_BLOCK 16
#endif

// The order of the fields is known to the assembly.
typedef struct {
    const void *x; // expanded input, see mz_dense_expand
    const uint8_t *row; // the first one
    int32_t pitch; // bytes to the next row
    uint32_t mask; // of the pairs of wide rows, the rounding of masters
#if MZ_DSP
    int32_t entry; // where the inner loop is entered
    int32_t first; // the same, or what takes four inputs before it
#endif
    const void *x_end;
    int32_t kind;
} mz_dot_t;

// Sums of the products of n rows: of int8; of masters, rounded to int8; of int16 whose low
// bits are masked out. Sums of up to MZ_ROWS - 1 rows that do not exist may follow.
void mz_dot(const mz_dot_t *dot, int32_t n, int32_t *sums);
// With MZ_DSP: the same of neighbouring rows of int8 or masters, whole eights, with two expanded
// inputs: those of the second one, y, follow MZ_BLOCK words behind.
void mz_dot_two(const mz_dot_t *dot, const void *y, int32_t n, int32_t *sums);
// Makes `dot` start at cell `begin` and end at `end` of an expanded input, multiples of four.
void mz_dot_range(mz_dot_t *dot, int kind, const void *x, int32_t begin, int32_t end);

enum {
    MZ_ROWS_INT8,
    MZ_ROWS_MASTER,
    MZ_ROWS_WIDE,
};

// Expands k inputs less the zero point for rows of that kind, zeros up to k4.
void mz_dense_expand(const mz_layer_t *layer, int kind, void *expanded);

// Sums of sign * (x - zero point) over the inputs, for four rows of signs.
typedef struct {
#if MZ_DSP
    // The order of these is known to the assembly.
    const uint8_t *end; // of the bytes made from the inputs
    int32_t words; // sign words in a row
    uint32_t at; // with 1/32 of an address in the bytes it is the number of a word, key1 added
    uint32_t hash1, key2, hash2; // constants of mz_word
    const uint8_t *first_end; // of the bytes of the first word
    int32_t total; // of the inputs less the zero point
    uint32_t last_mask; // signs of the last word that belong to inputs
#else
    int32_t words; // sign words in a row
    const void *data; // made from the inputs
#endif
    const mz_layer_t *layer;
    mz_stream_t stream;
} mz_signs_t;

// Bytes of data that mz_signs_open writes.
int32_t mz_signs_bytes(int32_t k);
void mz_signs_open(mz_signs_t *signs, const mz_view_t *view, void *data);
// Rows c..c+3.
void mz_signs_four(const mz_signs_t *signs, int32_t c, int32_t *sum);

#endif
