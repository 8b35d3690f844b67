// Run-time functions that the compiler calls on Xtensa with register windows (ESP32, S2, S3).
// The library of Debian's compiler is for another ABI. Words of 64 bits are taken apart here, so
// that no function needs another of them. LX6 and LX7 have the divisions and the high product.
#include <stddef.h>
#include <stdint.h>

typedef union {
    uint64_t all;
    struct { uint32_t low, high; } half;
} wide_t;

#define TWO_OPERANDS(type, name, instruction) \
    type name(type a, type b); \
    type name(type a, type b) { \
        type result; \
        __asm__(instruction " %0, %1, %2" : "=r"(result) : "r"(a), "r"(b)); \
        return result; \
    }

TWO_OPERANDS(int32_t, __divsi3, "quos")
TWO_OPERANDS(int32_t, __modsi3, "rems")
TWO_OPERANDS(uint32_t, __udivsi3, "quou")
TWO_OPERANDS(uint32_t, __umodsi3, "remu")

#ifdef MZ_WITHOUT_MULUH // the cores that QEMU has
static uint32_t high_product(uint32_t a, uint32_t b) {
    uint32_t middle = (a >> 16) * (b & 0xffff) + ((a & 0xffff) * (b & 0xffff) >> 16);
    uint32_t other = (a & 0xffff) * (b >> 16) + (middle & 0xffff);
    return (a >> 16) * (b >> 16) + (middle >> 16) + (other >> 16);
}
#else
static TWO_OPERANDS(uint32_t, high_product, "muluh")
#endif

uint64_t __muldi3(uint64_t a, uint64_t b);
uint64_t __muldi3(uint64_t a, uint64_t b) {
    wide_t x = {a}, y = {b}, product;
    product.half.low = x.half.low * y.half.low;
    product.half.high = high_product(x.half.low, y.half.low)
        + x.half.low * y.half.high + x.half.high * y.half.low;
    return product.all;
}

uint64_t __ashldi3(uint64_t a, int n);
uint64_t __ashldi3(uint64_t a, int n) {
    wide_t x = {a};
    if (n & 32) {
        x.half.high = x.half.low;
        x.half.low = 0;
    }
    n &= 31;
    if (n) {
        x.half.high = x.half.high << n | x.half.low >> (32 - n);
        x.half.low <<= n;
    }
    return x.all;
}

// Shifts to the right; `fill` is what comes in from the left, all zeros or all ones.
static uint64_t shift_right(uint64_t a, int n, uint32_t fill) {
    wide_t x = {a};
    if (n & 32) {
        x.half.low = x.half.high;
        x.half.high = fill;
    }
    n &= 31;
    if (n) {
        x.half.low = x.half.low >> n | x.half.high << (32 - n);
        x.half.high = x.half.high >> n | fill << (32 - n);
    }
    return x.all;
}

uint64_t __lshrdi3(uint64_t a, int n);
uint64_t __lshrdi3(uint64_t a, int n) {
    return shift_right(a, n, 0);
}

int64_t __ashrdi3(int64_t a, int n);
int64_t __ashrdi3(int64_t a, int n) {
    wide_t x = {(uint64_t)a};
    return (int64_t)shift_right(x.all, n, x.half.high >> 31 ? UINT32_MAX : 0);
}

static uint64_t twice(uint64_t a, uint32_t bit) {
    wide_t x = {a};
    x.half.high = x.half.high << 1 | x.half.low >> 31;
    x.half.low = x.half.low << 1 | bit;
    return x.all;
}

// Long division, one bit of the quotient after the other.
static uint64_t divide(uint64_t a, uint64_t b, uint64_t *rest) {
    uint64_t remainder = 0;
    for (int i = 0; i < 64; ++i) {
        wide_t x = {a};
        remainder = twice(remainder, x.half.high >> 31);
        uint32_t bit = remainder >= b;
        remainder -= bit ? b : 0;
        a = twice(a, bit);
    }
    *rest = remainder;
    return a;
}

static uint64_t magnitude(int64_t a) {
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

uint64_t __udivdi3(uint64_t a, uint64_t b);
uint64_t __udivdi3(uint64_t a, uint64_t b) {
    uint64_t rest;
    return divide(a, b, &rest);
}

int64_t __divdi3(int64_t a, int64_t b);
int64_t __divdi3(int64_t a, int64_t b) {
    uint64_t rest;
    uint64_t quotient = divide(magnitude(a), magnitude(b), &rest);
    return (int64_t)((a < 0) != (b < 0) ? 0 - quotient : quotient);
}

int64_t __moddi3(int64_t a, int64_t b);
int64_t __moddi3(int64_t a, int64_t b) {
    uint64_t rest;
    divide(magnitude(a), magnitude(b), &rest);
    return (int64_t)(a < 0 ? 0 - rest : rest);
}

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    uint8_t *out = to;
    const uint8_t *in = from;
    while (n--) {
        *out++ = *in++;
    }
    return to;
}
