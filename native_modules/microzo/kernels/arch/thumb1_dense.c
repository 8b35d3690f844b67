// Dense layers for Cortex-M0+: two rows at a time, inputs as words.
#include "arch.h"

#if MZ_THUMB1

#include "../dense.h"

void mz_dense_expand(const mz_layer_t *l, int kind, void *expanded) {
    int32_t *to = expanded;
    int32_t zp = l->in_zp;
    (void)kind;
    for (int32_t i = 0; i < l->k; ++i) {
        to[i] = l->in[i] - zp;
    }
    for (int32_t i = l->k; i < l->k4; ++i) {
        to[i] = 0;
    }
}

void mz_dot4_range(mz_dot4_t *dot, int kind, const void *x, int32_t begin, int32_t end) {
    (void)kind;
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
    "    ldr r6, [sp, #20]\n" \
    "    ldr r4, [r6, #0]\n" \
    "    ldr r5, [r6, #4]\n" \
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
    const void *x_end, int32_t *acc) {
    __asm volatile (TWO_ROWS(LOAD_INT8, "1"));
}

__attribute__((naked, noinline)) static void two_masters(const void *x, const void *a, const void *b,
    const void *x_end, int32_t *acc) {
    __asm volatile (TWO_ROWS(LOAD_MASTER, "2"));
}

void mz_dot4_int8(mz_dot4_t *dot) {
    two_int8(dot->x, dot->rows[0], dot->rows[1], dot->x_end, dot->acc);
    two_int8(dot->x, dot->rows[2], dot->rows[3], dot->x_end, dot->acc + 2);
}

void mz_dot4_master(mz_dot4_t *dot) {
    two_masters(dot->x, dot->rows[0], dot->rows[1], dot->x_end, dot->acc);
    two_masters(dot->x, dot->rows[2], dot->rows[3], dot->x_end, dot->acc + 2);
}

void mz_dot4_wide(mz_dot4_t *dot) {
    int32_t mask = (int32_t)dot->mask;
    for (int32_t row = 0; row < 4; ++row) {
        const int16_t *w = dot->rows[row];
        int32_t sum = dot->acc[row];
        for (const int32_t *x = dot->x; x != dot->x_end; x += 4) {
            sum += (w[0] & mask) * x[0];
            sum += (w[1] & mask) * x[1];
            sum += (w[2] & mask) * x[2];
            sum += (w[3] & mask) * x[3];
            w += 4;
        }
        dot->acc[row] = sum;
        dot->rows[row] = w;
    }
}

#endif
