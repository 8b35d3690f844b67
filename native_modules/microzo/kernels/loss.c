#include "loss.h"
#include "output.h"

// Logits lie in a buffer that others write: clamped when read.
static int32_t logit(const int32_t *logits, int32_t i) {
    return mz_sat(logits[i], -MZ_LOGIT_LIMIT, MZ_LOGIT_LIMIT);
}

static int32_t step(int32_t p, int32_t x, int32_t c) {
    return c + (int32_t)(((int64_t)p * x) >> 30);
}

// exp(-d) in Q20, d >= 0 in Q12: 2^-n times a polynomial for 2^-x.
static uint32_t exp_neg(int32_t d) {
    int32_t t = (int32_t)(((int64_t)d * 94548) >> 12);
    int32_t n = t >> 16;
    if (n > 20) {
        return 0;
    }
    int32_t x = (t & 0xffff) << 14;
    int32_t p = step(123425, x, -1386547);
    p = step(p, x, 10303976);
    p = step(p, x, -59591327);
    p = step(p, x, 257940679);
    p = step(p, x, -744261105);
    p = step(p, x, 1 << 30);
    return (uint32_t)(p >> 10) >> n;
}

// log2 of a Q20 sum: Q16, s >= 2^20.
static int32_t log2_q16(uint32_t s) {
    int32_t k = 0;
    while (s >> (k + 1)) {
        ++k;
    }
    uint32_t v = s << (30 - k);
    int32_t frac = 0;
    for (int32_t i = 0; i < 16; ++i) {
        v = (uint32_t)(((uint64_t)v * v) >> 30);
        frac *= 2;
        if (v >> 31) {
            frac += 1;
            v >>= 1;
        }
    }
    return ((k - 20) << 16) | frac;
}

int32_t mz_loss(const int32_t *logits, int32_t classes, int32_t label, int32_t *err) {
    int32_t top = -MZ_LOGIT_LIMIT;
    for (int32_t i = 0; i < classes; ++i) {
        top = mz_max(top, logit(logits, i));
    }
    uint32_t sum = 0;
    for (int32_t i = 0; i < classes; ++i) {
        uint32_t e = exp_neg(top - logit(logits, i));
        sum += e;
        if (err != NULL) {
            err[i] = (int32_t)e;
        }
    }
    if (err != NULL) {
        uint32_t divisor = sum >> 4;
        for (int32_t i = 0; i < classes; ++i) {
            err[i] = (int32_t)(((uint32_t)err[i] << 11) / divisor) - (i == label ? 32768 : 0);
        }
    }
    int64_t log_sum = ((int64_t)log2_q16(sum) * 45426) >> 20;
    return top - logit(logits, label) + (int32_t)log_sum;
}
