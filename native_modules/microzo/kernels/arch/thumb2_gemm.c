// The inner loop of convolutions in Thumb-2: four channels at two positions. With the DSP
// extension 11 instructions do 16 multiplications, without it 14 do 8.
#include "arch.h"

#if MZ_THUMB2

#include "../columns.h"
#if MZ_DSP
#include "dsp.h"
#endif

// A step takes a pair of inputs of each position (one input without DSP).
#if MZ_DSP
#define STEP_INPUTS 2
#define UNROLL 8
#define STEP_CODE 44
#define STEP(op) \
    "    ldrd r2, r3, [r0], #8\n" \
    "    ldrd r12, lr, [r1], #8\n" \
    op("r4", "r12", "r2") \
    op("r5", "r12", "r3") \
    op("r6", "lr", "r2") \
    op("r7", "lr", "r3") \
    "    ldrd r12, lr, [r1], #8\n" \
    op("r8", "r12", "r2") \
    op("r9", "r12", "r3") \
    op("r10", "lr", "r2") \
    op("r11", "lr", "r3")
#define START(sum, w, x) "    smuad " sum ", " w ", " x "\n"
#define ADD(sum, w, x) "    smlad " sum ", " w ", " x ", " sum "\n"
// High word of the product with r2, rounded; r0 is free.
#define HIGH(v) "    smmulr " v ", " v ", r2\n"
#else
#define STEP_INPUTS 1
#define UNROLL 4
#define STEP_CODE 56
#define WEIGHT(op, a, b) \
    "    ldrsh r12, [r1], #2\n" \
    op(a, "r12", "r2") \
    op(b, "r12", "r3")
#define STEP(op) \
    "    ldrsh r2, [r0], #2\n" \
    "    ldrsh r3, [r0], #2\n" \
    WEIGHT(op, "r4", "r5") \
    WEIGHT(op, "r6", "r7") \
    WEIGHT(op, "r8", "r9") \
    WEIGHT(op, "r10", "r11")
#define START(sum, w, x) "    mul " sum ", " w ", " x "\n"
#define ADD(sum, w, x) "    mla " sum ", " w ", " x ", " sum "\n"
#define HIGH(v) \
    "    smull r0, " v ", " v ", r2\n" \
    "    add " v ", " v ", r0, lsr #31\n"
#endif
#define STRING(x) STRING_(x)
#define STRING_(x) #x

int32_t mz_quad_offset(const mz_pack_t *pack, const void *weights, int32_t i) {
    (void)pack;
    (void)weights;
    (void)i;
    return 0;
}

int32_t mz_gemm_open(mz_gemm_t *gemm, const mz_view_t *view, const void *column) {
    int32_t k4 = view->layer->k4;
    // The first step starts the sums; the first round does what is no full round.
    uint32_t rest = (uint32_t)(k4 / STEP_INPUTS - 1) % UNROLL;
    gemm->skip = rest ? (UNROLL - rest) * STEP_CODE : 0;
    gemm->planes = 1;
    gemm->column = column;
    gemm->column_end = (const uint8_t *)column + 4 * k4;
    return 8 * k4;
}

// In registers: r0 column, r1 stream, r4..r11 sums (channel by channel, both
// positions), r2 r3 a pair of each position, r12 lr weights. All 14 are in use, so
// the rest lies on the stack: the words of mz_gemm_t in order.
__attribute__((naked, noinline)) void mz_gemm(const mz_gemm_t *gemm) {
    __asm volatile (
        ".syntax unified\n"
        // Two outputs of a channel; the first call brings the distance into r4.
        ".macro mz_store a:req, b:req, first=0\n"
        "    ldm r1!, {r0, r2, r12, lr}\n"
        "    add \\a, r0, \\a, lsl #1\n"
        "    add \\b, r0, \\b, lsl #1\n"
        HIGH("\\a")
        HIGH("\\b")
        "    add \\a, \\a, \\a, asr #31\n"
        "    add \\b, \\b, \\b, asr #31\n"
        "    add \\a, r12\n"
        "    add \\b, r12\n"
        "    asr \\a, lr\n"
        "    asr \\b, lr\n"
        "    ssat \\a, #8, \\a\n"
        "    ssat \\b, #8, \\b\n"
        "    strb \\a, [r3], #1\n"
        "    .if \\first\n"
        "    ldr r4, [sp, #16]\n"
        "    .endif\n"
        "    strb \\b, [r3, r4]\n"
        ".endm\n"

        "    push {r4-r11, lr}\n"
        "    mov r12, r0\n"
        "    ldr r1, [r12, #28]\n"
        "    ldm r12, {r2-r8}\n"
        "    adr r0, 2f\n"
        "    add r4, r0\n"
        "    orr r4, r4, #1\n"
        "    push {r2-r8}\n"
        "1:\n"
        "    ldr r0, [sp, #0]\n"
        STEP(START)
        "    ldr pc, [sp, #8]\n"
        "    .balign 4\n"
        "2:\n"
        "    .rept " STRING(UNROLL) "\n"
        STEP(ADD)
        "    .endr\n"
        "    ldr r12, [sp, #4]\n"
        "    cmp r0, r12\n"
        "    bne 2b\n"
        "    ldr r3, [sp, #12]\n"
        "    cbnz r3, 3f\n"
        "    ldr r0, [sp, #24]\n"
        "    stm r0, {r4-r11}\n"
        "    b 4f\n"
        "3:\n"
        "    mz_store r4, r5, 1\n"
        "    mz_store r6, r7\n"
        "    mz_store r8, r9\n"
        "    mz_store r10, r11\n"
        "    str r3, [sp, #12]\n"
        "    ldr r12, [sp, #20]\n"
        "    cmp r1, r12\n"
        "    bne 1b\n"
        "4:\n"
        "    add sp, #28\n"
        "    pop {r4-r11, pc}\n"
        ".purgem mz_store\n"
    );
}

#if MZ_DSP

// In registers: r0 r1 inputs, r3 the zero point, r12 column, r2 cells to go.
__attribute__((naked, noinline)) void *mz_column_pair(const int8_t *x, const int8_t *y, int32_t n,
    int32_t zp, void *column, int32_t *sums) {
    __asm volatile (
        ".syntax unified\n"
        "    ldr r12, [sp]\n"
        "    push {r4-r11}\n"
        "    rsb r3, r3, #0\n"
        "    pkhbt r3, r3, r3, lsl #16\n"
        "    tst r2, #4\n"
        "    beq 2f\n"
        "    ldr r6, [r0], #4\n"
        "    ldr r7, [r1], #4\n"
        "    sxtab16 r4, r3, r6\n"
        "    sxtab16 r5, r3, r7\n"
        "    sxtab16 r6, r3, r6, ror #8\n"
        "    sxtab16 r7, r3, r7, ror #8\n"
        "    stm r12!, {r4-r7}\n"
        "2:\n"
        "    lsrs r2, r2, #3\n"
        "    beq 3f\n"
        "1:\n"
        "    ldrd r6, r10, [r0], #8\n"
        "    ldrd r7, r11, [r1], #8\n"
        "    sxtab16 r4, r3, r6\n"
        "    sxtab16 r5, r3, r7\n"
        "    sxtab16 r6, r3, r6, ror #8\n"
        "    sxtab16 r7, r3, r7, ror #8\n"
        "    sxtab16 r8, r3, r10\n"
        "    sxtab16 r9, r3, r11\n"
        "    sxtab16 r10, r3, r10, ror #8\n"
        "    sxtab16 r11, r3, r11, ror #8\n"
        "    stm r12!, {r4-r11}\n"
        "    subs r2, #1\n"
        "    bne 1b\n"
        "3:\n"
        "    mov r0, r12\n"
        "    pop {r4-r11}\n"
        "    bx lr\n"
    );
}

#else

void *mz_column_pair(const int8_t *x, const int8_t *y, int32_t n, int32_t zp, void *column,
    int32_t *sums) {
    (void)sums;
    int16_t *to = column;
    for (int16_t *end = to + 2 * n; to != end; to += 8, x += 4, y += 4) {
        to[0] = (int16_t)(x[0] - zp);
        to[1] = (int16_t)(y[0] - zp);
        to[2] = (int16_t)(x[1] - zp);
        to[3] = (int16_t)(y[1] - zp);
        to[4] = (int16_t)(x[2] - zp);
        to[5] = (int16_t)(y[2] - zp);
        to[6] = (int16_t)(x[3] - zp);
        to[7] = (int16_t)(y[3] - zp);
    }
    return to;
}

void mz_quad_pack(const mz_pack_t *pack, int32_t first, int32_t n, void *weights) {
    for (int32_t i = 0; i < 4; ++i) {
        mz_pack_spread(pack, first + mz_min(i, n - 1), (int16_t *)weights + i, 4, 8, 12);
    }
}

#endif

#endif
