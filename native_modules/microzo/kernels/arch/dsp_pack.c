// Rows of weights for the DSP inner loop, perturbed while they are read.
#include "arch.h"

#if MZ_DSP

#include "../columns.h"
#include "dsp.h"

enum {
    FROM_INT8,
    FROM_MASTER, // rounded to int8
    FROM_WIDE, // 16w8a
};

// What pack_row reads; the order of the fields is known to it.
typedef struct {
    const void *from;
    void *to;
    int32_t fours;
    uint32_t base; // -|eps|, in both halves if the weights are bytes
    uint32_t twice; // 2|eps|, or 0
    uint32_t constant; // FROM_MASTER: the rounding; FROM_WIDE: 2^16 >> (8 - f)
    uint32_t mask; // signs of a four; of two neighbours but one with FROM_WIDE
    uint32_t hash1, key2, hash2, flip; // constants of mz_word
    uint32_t at; // first word of the row, key1 added
    int32_t kind;
} row_t;

// A row of whole fours as pairs, those of a four 16 bytes apart. r0 from, r1 to, r2 fours to go,
// r3 signs, the next four in the lowest bits of the bytes, r4..r6 and r9 temporaries, r7 next
// word, r8 fours of this word, r10 base, r11 twice, r12 constant, lr mask; on the stack where the
// rest of the struct is.
__attribute__((naked, noinline)) static void pack_row(const row_t *row) {
    __asm volatile (
        ".syntax unified\n"
        ".macro mz_end again:req\n"
        "    str r6, [r1], #16\n"
        "    str r5, [r1], #16\n"
        "    lsrs r3, r3, #1\n"
        "    subs r8, #1\n"
        "    bne \\again\n"
        ".endm\n"
        "    push {r4-r11, lr}\n"
        "    mov r9, r0\n"
        "    ldm r9!, {r0-r2, r10-r12, lr}\n"
        "    push {r9}\n"
        "    ldr r7, [r9, #16]\n"
        "1:\n"
        "    ldr r9, [sp]\n"
        "    movs r3, #0\n"
        "    cmp r11, #0\n"
        "    beq 2f\n"
        "    ldm r9, {r3-r6}\n"
        "    eor r8, r7, r7, lsr #16\n"
        "    mla r3, r3, r8, r4\n"
        "    eor r3, r3, r3, lsr #15\n"
        "    mul r3, r3, r5\n"
        "    eor r3, r3, r3, lsr #16\n"
        "    eors r3, r6\n"
        "    adds r7, #1\n"
        "2:\n"
        "    mov r8, #8\n"
        "    subs r2, #8\n"
        "    it lt\n"
        "    addlt r8, r2\n"
        "    ldr r4, [r9, #20]\n"
        "    cmp r4, #1\n"
        "    beq 4f\n"
        "    bgt 5f\n"
        "3:\n"
        "    ldr r5, [r0], #4\n"
        "    and r4, lr, r3\n"
        "    mul r4, r4, r11\n"
        "    sxtab16 r6, r10, r5\n"
        "    sxtab16 r5, r10, r5, ror #8\n"
        "    uxtab16 r6, r6, r4\n"
        "    uxtab16 r5, r5, r4, ror #8\n"
        "    mz_end 3b\n"
        "    b 6f\n"
        "4:\n"
        "    ldrd r4, r5, [r0], #8\n"
        "    pkhbt r6, r4, r5, lsl #16\n"
        "    pkhtb r5, r5, r4, asr #16\n"
        "    sadd16 r6, r6, r12\n"
        "    sadd16 r5, r5, r12\n"
        "    and r4, lr, r3\n"
        "    mul r4, r4, r11\n"
        "    sxtab16 r6, r10, r6, ror #8\n"
        "    sxtab16 r5, r10, r5, ror #8\n"
        "    uxtab16 r6, r6, r4\n"
        "    uxtab16 r5, r5, r4, ror #8\n"
        "    mz_end 4b\n"
        "    b 6f\n"
        "5:\n"
        "    ldrd r4, r5, [r0], #8\n"
        "    smlawb r6, r12, r4, r10\n"
        "    smlawt r4, r12, r4, r10\n"
        "    smlawb r9, r12, r5, r10\n"
        "    smlawt r5, r12, r5, r10\n"
        "    pkhbt r6, r6, r9, lsl #16\n"
        "    pkhbt r5, r4, r5, lsl #16\n"
        "    and r4, lr, r3\n"
        "    mul r4, r4, r11\n"
        "    sadd16 r6, r6, r4\n"
        "    and r4, lr, r3, lsr #8\n"
        "    mul r4, r4, r11\n"
        "    sadd16 r5, r5, r4\n"
        "    mz_end 5b\n"
        "6:\n"
        "    cmp r2, #0\n"
        "    bgt 1b\n"
        "    add sp, #4\n"
        "    pop {r4-r11, pc}\n"
        ".purgem mz_end\n"
    );
}

void mz_quad_pack(const mz_pack_t *pack, int32_t first, int32_t n, void *weights) {
    const mz_view_t *view = pack->view;
    const mz_layer_t *l = view->layer;
    int kind = l->master == NULL ? FROM_INT8 : view->wide ? FROM_WIDE : FROM_MASTER;
    const uint8_t *from = kind == FROM_INT8 ? (const uint8_t *)l->weights : (const uint8_t *)l->master;
    bool spread = l->k != l->k4 || ((uintptr_t)from & 3);
    row_t r = {from, weights, l->k >> 2, mz_both(pack->base), (uint32_t)pack->twice, 0x00800080, 0x01010101,
        MZ_HASH1, view->weight_stream.key2, MZ_HASH2, pack->flip, 0, kind};
    if (kind == FROM_WIDE) {
        r.base = (uint32_t)pack->base;
        r.constant = 0x10000u >> pack->shift;
        r.mask = 0x00010001;
    }
    for (int32_t i = 0; i < 4; ++i) {
        int32_t row = first + mz_min(i, n - 1);
        if (spread) {
            mz_pack_spread(pack, row, (int16_t *)weights + 2 * i, 8, 1, 9);
            continue;
        }
        r.from = from + row * l->k * (kind == FROM_INT8 ? 1 : 2);
        r.to = (int32_t *)weights + i;
        r.at = (uint32_t)row * pack->words + view->weight_stream.key1;
        pack_row(&r);
    }
}

#endif
