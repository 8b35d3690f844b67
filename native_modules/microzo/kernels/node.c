#include "node.h"
#include "arch/arch.h"
#include "gradient.h"
#include "loss.h"
#include "requant.h"

// One copy where the nodes are mostly moved otherwise.
#if MZ_DSP
#define WALK MZ_RARE
#else
#define WALK inline __attribute__((always_inline))
#endif

// For every node that is free, with its sign: adds v to a sum, or to the node itself.
static WALK void walk(const mz_layer_t *l, const int8_t *y,
    mz_stream_t stream, uint32_t keep, int32_t v, int32_t *sums) {
    uint32_t next = 0;
    uint32_t word = 0;
    int32_t lo = l->act_min;
    int32_t hi = l->act_max;
    uint32_t inside = (uint32_t)mz_max(hi - lo - 1, 0); // values between the two
    int32_t channels = l->out_c;
    int8_t *out = l->out;
    for (const int8_t *end = y + l->out_size; y != end; next &= keep) {
        for (int32_t c = 0; c < channels; c += 4) {
            if ((c & 31) == 0) {
                word = mz_word(stream, next++);
            }
            uint32_t signs = word;
            word >>= 1;
            for (int32_t left = mz_min(4, channels - c); left > 0; --left) {
                int32_t was = *y++;
                int32_t by = signs & 1 ? -v : v;
                bool is_free = (uint32_t)(was - lo - 1) < inside;
                signs >>= 8;
                if (sums == NULL) {
                    *out++ = (int8_t)(is_free ? mz_sat(was + by, lo, hi) : was);
                } else {
                    if (is_free) {
                        // Both are small enough for 32 bits.
                        int32_t sum = mz_sat(*sums, -MZ_GRADIENT_LIMIT, MZ_GRADIENT_LIMIT) + by;
                        *sums = mz_sat(sum, -MZ_GRADIENT_LIMIT, MZ_GRADIENT_LIMIT);
                    }
                    ++sums;
                }
            }
        }
    }
}

#if MZ_DSP

// Four nodes at once: whole fours of channels, words, at least one value between the limits.
static MZ_BUSY void perturb_fours(const mz_layer_t *l, const mz_word_t *y, mz_stream_t stream,
    uint32_t keep, int32_t v) {
    uint32_t by = 0x01010101 * (uint32_t)(v < 0 ? -v : v);
    uint32_t flip = v < 0 ? 0xffffffff : 0;
    uint32_t lo = 0x01010101 * (uint32_t)(uint8_t)l->act_min;
    uint32_t hi = 0x01010101 * (uint32_t)(uint8_t)l->act_max;
    uint32_t above = 0x01010101 * (uint32_t)(uint8_t)(l->act_min + 1);
    uint32_t below = 0x01010101 * (uint32_t)(uint8_t)(l->act_max - 1);
    uint32_t next = 0;
    uint32_t word = 0;
    int32_t fours = l->out_c / 4;
    mz_word_t *out = (mz_word_t *)(void *)l->out;
    for (const mz_word_t *end = y + l->out_size / 4; y != end; next &= keep) {
        for (int32_t left = fours, q = 0; left > 0; --left) {
            if (--q < 0) {
                q = 7;
                word = mz_word(stream, next++) ^ flip;
            }
            uint32_t was = *y++;
            uint32_t sign = word << q;
            uint32_t less, more;
            // The top bits of the sign's bytes choose; what leaves the limits comes back;
            // what was at a limit stays.
            __asm (
                "qsub8 %[less], %[was], %[by]\n"
                "qadd8 %[more], %[was], %[by]\n"
                "uadd8 %[sign], %[sign], %[sign]\n"
                "sel %[more], %[less], %[more]\n"
                "ssub8 %[less], %[more], %[lo]\n"
                "sel %[more], %[more], %[lo]\n"
                "ssub8 %[less], %[hi], %[more]\n"
                "sel %[more], %[more], %[hi]\n"
                "ssub8 %[less], %[was], %[above]\n"
                "sel %[more], %[more], %[was]\n"
                "ssub8 %[less], %[below], %[was]\n"
                "sel %[more], %[more], %[was]\n"
                : [less] "=&r" (less), [more] "=&r" (more), [sign] "+r" (sign)
                : [was] "r" (was), [by] "r" (by), [lo] "r" (lo), [hi] "r" (hi),
                [above] "r" (above), [below] "r" (below) : "cc");
            *out++ = more;
        }
    }
}

static void perturb(const mz_layer_t *l, const int8_t *y, mz_stream_t stream, uint32_t keep,
    int32_t v) {
    if (l->out_c % 4 == 0 && ((uintptr_t)y & 3) == 0 && l->act_max - l->act_min > 1) {
        perturb_fours(l, (const mz_word_t *)(const void *)y, stream, keep, v);
    } else {
        walk(l, y, stream, keep, v, NULL);
    }
}

#else

static MZ_BUSY void perturb(const mz_layer_t *l, const int8_t *y, mz_stream_t stream, uint32_t keep,
    int32_t v) {
    walk(l, y, stream, keep, v, NULL);
}

#endif

static void accumulate(const mz_layer_t *l, const int8_t *y, mz_stream_t stream, uint32_t keep,
    int32_t v, int32_t *sums) {
    walk(l, y, stream, keep, v, sums);
}

static void copy(const int8_t *from, int32_t n, int8_t *to) {
    if ((((uintptr_t)from | (uintptr_t)to) & 3) == 0) {
        for (; n >= 4; n -= 4, from += 4, to += 4) {
            *(mz_word_t *)(void *)to = *(const mz_word_t *)(const void *)from;
        }
    }
    for (; n > 0; --n) {
        *to++ = *from++;
    }
}

MZ_RARE int32_t mz_node_probe(const mz_net_t *net, const mz_node_t *node, int8_t *y, int32_t *sums,
    int32_t *out) {
    mz_layer_t l;
    mz_pass_t pass;
    int32_t loss[2];
    MZ_TRY(mz_layer_load(net, node->op, &l));
    mz_stream_t stream = mz_stream(node->seed, 4 * (uint32_t)l.tid + 2);
    if (node->mode == MZ_NODE_MOVE) {
        perturb(&l, l.out, stream, node->keep, node->eps);
        return MZ_OK;
    }
    if (node->mode == MZ_NODE_CREDIT) {
        accumulate(&l, l.out, stream, node->keep, node->clip, sums);
        return MZ_OK;
    }
    copy(l.out, l.out_size, y);
    mz_pass_plain(&pass, node->mode);
    for (int32_t i = 0; i < 2; ++i) {
        perturb(&l, y, stream, node->keep, i == 0 ? node->eps : -node->eps);
        MZ_TRY(mz_run(net, node->op + 1, net->n_ops, &pass));
        MZ_TRY(mz_finish(net));
        loss[i] = mz_loss(net->logits, net->classes, node->label, NULL);
    }
    copy(y, l.out_size, l.out);
    int32_t d = ((loss[0] - loss[1]) * node->scale) >> node->shift;
    accumulate(&l, y, stream, node->keep, mz_sat(d, -node->clip, node->clip), sums);
    out[0] = loss[0];
    out[1] = loss[1];
    return MZ_OK;
}
