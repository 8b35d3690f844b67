// Dense layers for Cortex-M0+: two rows at a time, inputs as words.
#include "arch.h"

#if MZ_THUMB1

#include "../dense.h"

void mz_dense_expand(const mz_layer_t *l, int kind, void *expanded) {
    int32_t *to = expanded;
    int32_t zp = l->in_zp;
    (void)kind;
    const mz_word_t *from = (const mz_word_t *)(const void *)l->in;
    for (const mz_word_t *end = from + (l->k >> 2); from != end; to += 4) {
        uint32_t v = *from++;
        to[0] = (int8_t)v - zp;
        to[1] = (int8_t)(v >> 8) - zp;
        to[2] = (int8_t)(v >> 16) - zp;
        to[3] = ((int32_t)v >> 24) - zp;
    }
    for (int32_t i = l->k & ~3; i < l->k4; ++i) {
        *to++ = i < l->k ? l->in[i] - zp : 0;
    }
}

void mz_dot_range(mz_dot_t *dot, int kind, const void *x, int32_t begin, int32_t end) {
    dot->kind = kind;
    dot->x = (const int32_t *)x + begin;
    dot->x_end = (const int32_t *)x + end;
}

// r0 inputs and r12 their end, r1 r2 rows, r3 offset in them, r4 r5 sums, r6 r7 input and
// weight. A multiple of four inputs.
#define TWO_ROWS(load, step) \
    ".syntax unified\n" \
    ".macro mz_one at:req\n" \
    "    ldr r6, [r0, #\\at]\n" \
    load("r1") \
    "    muls r7, r6, r7\n" \
    "    adds r4, r4, r7\n" \
    load("r2") \
    "    muls r7, r6, r7\n" \
    "    adds r5, r5, r7\n" \
    "    adds r3, #" step "\n" \
    ".endm\n" \
    "    push {r4-r7, lr}\n" \
    "    mov r12, r3\n" \
    "    movs r4, #0\n" \
    "    movs r5, #0\n" \
    "    movs r3, #0\n" \
    "1:\n" \
    "    mz_one 0\n" \
    "    mz_one 4\n" \
    "    mz_one 8\n" \
    "    mz_one 12\n" \
    "    adds r0, #16\n" \
    "    cmp r0, r12\n" \
    "    bne 1b\n" \
    "    ldr r6, [sp, #20]\n" \
    "    str r4, [r6, #0]\n" \
    "    str r5, [r6, #4]\n" \
    "    pop {r4-r7, pc}\n" \
    ".purgem mz_one\n"

#define LOAD_INT8(row) "    ldrsb r7, [" row ", r3]\n"
#define LOAD_MASTER(row) \
    "    ldrsh r7, [" row ", r3]\n" \
    "    adds r7, #128\n" \
    "    asrs r7, r7, #8\n"

__attribute__((naked, noinline)) static void two_int8(const void *x, const void *a, const void *b,
    const void *x_end, int32_t *sums) {
    __asm volatile (TWO_ROWS(LOAD_INT8, "1"));
}

__attribute__((naked, noinline)) static void two_masters(const void *x, const void *a, const void *b,
    const void *x_end, int32_t *sums) {
    __asm volatile (TWO_ROWS(LOAD_MASTER, "2"));
}

typedef void (*two_fun_t)(const void *x, const void *a, const void *b, const void *x_end, int32_t *sums);

// The last row is repeated.
static inline __attribute__((always_inline)) void all_rows(const mz_dot_t *dot, int32_t n, int32_t *sums,
    two_fun_t sum_two) {
    const uint8_t *row = dot->row;
    for (; n > 0; n -= 2, sums += 2) {
        const uint8_t *other = n > 1 ? row + dot->pitch : row;
        sum_two(dot->x, row, other, dot->x_end, sums);
        row = other + dot->pitch;
    }
}

static MZ_BUSY void wide_rows(const mz_dot_t *dot, int32_t n, int32_t *sums) {
    int32_t mask = (int32_t)dot->mask;
    const uint8_t *row = dot->row;
    for (; n > 0; --n, row += dot->pitch) {
        const int16_t *w = (const int16_t *)(const void *)row;
        int32_t sum = 0;
        for (const int32_t *x = dot->x; x != dot->x_end; x += 4) {
            sum += (w[0] & mask) * x[0];
            sum += (w[1] & mask) * x[1];
            sum += (w[2] & mask) * x[2];
            sum += (w[3] & mask) * x[3];
            w += 4;
        }
        *sums++ = sum;
    }
}

void mz_dot(const mz_dot_t *dot, int32_t n, int32_t *sums) {
    if (dot->kind == MZ_ROWS_INT8) {
        all_rows(dot, n, sums, two_int8);
    } else if (dot->kind == MZ_ROWS_MASTER) {
        all_rows(dot, n, sums, two_masters);
    } else {
        wide_rows(dot, n, sums);
    }
}

#endif
