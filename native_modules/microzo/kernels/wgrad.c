// Sums over the windows of many positions at once. A column of kernel cells at a time, because
// windows that leave the image at a side lack whole columns, and others whole rows.
#include "wgrad.h"
#include "arch/arch.h"
#include "gradient.h"
#include "pack.h"
#include "update.h"
#if MZ_DSP
#include "arch/dsp.h"
#endif

_Static_assert(sizeof(mz_wgrad_room_t) <= 3072, "positions fit in the least scratch of a CONV");

// Bytes from the input to the window of a position; modulo 2^32 where it begins far outside.
static inline int32_t window_at(const mz_layer_t *l, int32_t row, int32_t column) {
    return (int32_t)(((uint32_t)row * (uint32_t)l->in_w + (uint32_t)column) * (uint32_t)l->in_c);
}

// Cells of the input that are summed with all their channels: n positions, `width` neighbouring bytes
// from `from` bytes behind the beginning of each window.
typedef struct {
    const mz_wgrad_t *wgrad;
    const int32_t *at;
    const int32_t *h;
    int32_t n;
    uint32_t from;
    int32_t width;
    int32_t *sums;
} run_t;

#if MZ_LANES

// Sums of four neighbouring bytes: each in 16 bits.
#if MZ_DSP

#define BYTE_BIAS 0

typedef struct {
    uint32_t even, odd;
} four_t;

static inline void four_add(four_t *s, uint32_t w) {
    s->even = mz_sxtab16(s->even, w);
    s->odd = mz_sxtab16_8(s->odd, w);
}

// Eight bytes at each of the next two positions, in 13 instructions.
static inline const int32_t *eight_add(four_t *a, four_t *b, const int8_t *x, const int32_t *at) {
    uint32_t p, q, u, v;
    __asm (
        "ldrd %[p], %[q], [%[at]], #8\n"
        "add %[p], %[x]\n"
        "add %[q], %[x]\n"
        "ldrd %[u], %[v], [%[p]]\n"
        "sxtab16 %[e], %[e], %[u]\n"
        "sxtab16 %[o], %[o], %[u], ror #8\n"
        "sxtab16 %[f], %[f], %[v]\n"
        "sxtab16 %[r], %[r], %[v], ror #8\n"
        "ldrd %[u], %[v], [%[q]]\n"
        "sxtab16 %[e], %[e], %[u]\n"
        "sxtab16 %[o], %[o], %[u], ror #8\n"
        "sxtab16 %[f], %[f], %[v]\n"
        "sxtab16 %[r], %[r], %[v], ror #8\n"
        : [e] "+r" (a->even), [o] "+r" (a->odd), [f] "+r" (b->even), [r] "+r" (b->odd), [at] "+r" (at),
        [p] "=&r" (p), [q] "=&r" (q), [u] "=&r" (u), [v] "=&r" (v)
        : [x] "r" (x)
        : "memory");
    return at;
}

static inline uint32_t four_low(uint32_t lanes) {
    return (uint32_t)(int16_t)lanes;
}

static inline uint32_t four_high(uint32_t lanes) {
    return (uint32_t)((int32_t)lanes >> 16);
}

static inline uint32_t four_even(const four_t *s) {
    return s->even;
}

#else

#define BYTE_BIAS 128

// Of whole words, modulo 2^32, and of the odd bytes: the even ones are what is left.
typedef struct {
    uint32_t all, odd;
} four_t;

static inline void four_add(four_t *s, uint32_t w) {
    w ^= 0x80808080u;
    s->all += w;
    s->odd += (w >> 8) & 0x00ff00ffu;
}

static inline const int32_t *eight_add(four_t *a, four_t *b, const int8_t *x, const int32_t *at) {
    const mz_word_t *u = (const mz_word_t *)(const void *)(x + at[0]);
    const mz_word_t *v = (const mz_word_t *)(const void *)(x + at[1]);
    four_add(a, u[0]);
    four_add(b, u[1]);
    four_add(a, v[0]);
    four_add(b, v[1]);
    return at + 2;
}

static inline uint32_t four_low(uint32_t lanes) {
    return lanes & 0xffff;
}

static inline uint32_t four_high(uint32_t lanes) {
    return lanes >> 16;
}

static inline uint32_t four_even(const four_t *s) {
    return s->all - (s->odd << 8);
}

#endif

_Static_assert(MZ_WGRAD_CHUNK * 255 < 65536 && MZ_WGRAD_CHUNK * 128 < 32768, "sums of bytes fit in 16 bits");

static inline void four_end(const four_t *s, uint32_t h, uint32_t zero, int32_t *sums) {
    uint32_t even = four_even(s);
    sums[0] = (int32_t)((uint32_t)sums[0] + h * four_low(even) - zero);
    sums[1] = (int32_t)((uint32_t)sums[1] + h * four_low(s->odd) - zero);
    sums[2] = (int32_t)((uint32_t)sums[2] + h * four_high(even) - zero);
    sums[3] = (int32_t)((uint32_t)sums[3] + h * four_high(s->odd) - zero);
}

static inline const mz_word_t *words_at(const run_t *run, const int8_t *x, int32_t i) {
    return (const mz_word_t *)(const void *)(x + run->at[i]);
}

// One h for all: sums of bytes, eight at a time, then a multiplication.
static MZ_BUSY void add_same(const run_t *run) {
    const mz_layer_t *l = run->wgrad->layer;
    uint32_t h = (uint32_t)run->wgrad->h;
    uint32_t zero = h * (uint32_t)(run->n * (l->in_zp + BYTE_BIAS));
    const int8_t *x = l->in + run->from;
    int32_t *sums = run->sums;
    const int32_t *end = run->at + run->n;
    int32_t left = run->width;
    for (; left >= 8; left -= 8, x += 8, sums += 8) {
        four_t a = {0, 0};
        four_t b = {0, 0};
        const int32_t *at = run->at;
        if (run->n & 1) {
            const mz_word_t *u = (const mz_word_t *)(const void *)(x + *at++);
            four_add(&a, u[0]);
            four_add(&b, u[1]);
        }
        while (at != end) {
            at = eight_add(&a, &b, x, at);
        }
        four_end(&a, h, zero, sums);
        four_end(&b, h, zero, sums + 4);
    }
    if (left > 0) {
        four_t a = {0, 0};
        for (int32_t i = 0; i < run->n; ++i) {
            four_add(&a, *words_at(run, x, i));
        }
        four_end(&a, h, zero, sums);
    }
}

// Products, four bytes at a time.
static MZ_BUSY void add_words(const run_t *run, uint32_t zero) {
    const int8_t *x = run->wgrad->layer->in + run->from;
    int32_t *sums = run->sums;
    const int32_t *end = run->at + run->n;
    for (int32_t left = run->width; left > 0; left -= 4, x += 4, sums += 4) {
        uint32_t s0 = (uint32_t)sums[0] - zero;
        uint32_t s1 = (uint32_t)sums[1] - zero;
        uint32_t s2 = (uint32_t)sums[2] - zero;
        uint32_t s3 = (uint32_t)sums[3] - zero;
        const int32_t *h = run->h;
        for (const int32_t *at = run->at; at != end; ++at) {
            uint32_t w = *(const mz_word_t *)(const void *)(x + *at);
            uint32_t v = (uint32_t)*h++;
            s0 += v * (uint32_t)(int8_t)w;
            s1 += v * (uint32_t)(int8_t)(w >> 8);
            s2 += v * (uint32_t)(int8_t)(w >> 16);
            s3 += v * (uint32_t)((int32_t)w >> 24);
        }
        sums[0] = (int32_t)s0;
        sums[1] = (int32_t)s1;
        sums[2] = (int32_t)s2;
        sums[3] = (int32_t)s3;
    }
}

#endif

// Anything, a byte at a time.
static void add_bytes(const run_t *run, int32_t zero) {
    const mz_layer_t *l = run->wgrad->layer;
    for (int32_t k = 0; k < run->width; ++k) {
        run->sums[k] -= zero;
    }
    for (int32_t i = 0; i < run->n; ++i) {
        // The sum is an offset into the input, whatever the parts are.
        const int8_t *x = l->in + ((uint32_t)run->at[i] + run->from);
        int32_t h = run->wgrad->same ? run->wgrad->h : run->h[i];
        for (int32_t k = 0; k < run->width; ++k) {
            run->sums[k] += h * x[k];
        }
    }
}

static void add(const run_t *run) {
    if (run->n <= 0) {
        return;
    }
#if MZ_LANES
    bool words = run->wgrad->layer->in_c % 4 == 0;
    if (words && run->wgrad->same) {
        add_same(run);
        return;
    }
#endif
    int32_t sum = run->wgrad->same ? run->n * run->wgrad->h : 0;
    for (int32_t i = 0; !run->wgrad->same && i < run->n; ++i) {
        sum += run->h[i];
    }
    sum *= run->wgrad->layer->in_zp;
#if MZ_LANES
    if (words) {
        add_words(run, (uint32_t)sum);
        return;
    }
#endif
    add_bytes(run, sum);
}

// Copies the positions whose column, moved by `kx`, is below `limit`; returns their number.
static int32_t choose(mz_wgrad_room_t *room, int32_t n, int32_t kx, int32_t limit) {
    int32_t chosen = 0;
    for (int32_t i = 0; i < n; ++i) {
        if ((uint32_t)(room->column[i] + kx) < (uint32_t)limit) {
            room->inside.at[chosen] = room->all.at[i];
            room->inside.row[chosen] = room->all.row[i];
            room->inside.h[chosen++] = room->all.h[i];
        }
    }
    return chosen;
}

// Kernel columns kx.. of n positions: for each kernel row, those that have it inside the image.
static void add_rows(const mz_wgrad_t *wgrad, const mz_positions_t *positions, int32_t n, int32_t kx,
    int32_t width) {
    const mz_layer_t *l = wgrad->layer;
    run_t run;
    run.wgrad = wgrad;
    run.width = width;
    for (int32_t ky = 0; ky < l->k_h; ++ky) {
        int32_t first = 0;
        int32_t last = n;
        while (!wgrad->plain && first < last && positions->row[first] + ky * l->dil_h < 0) {
            ++first;
        }
        while (!wgrad->plain && first < last && positions->row[last - 1] + ky * l->dil_h >= l->in_h) {
            --last;
        }
        run.at = positions->at + first;
        run.h = positions->h + first;
        run.n = last - first;
        run.from = (uint32_t)window_at(l, ky * l->dil_h, kx * l->dil_w);
        run.sums = wgrad->sums + (ky * l->k_w + kx) * l->in_c;
        add(&run);
    }
}

void mz_wgrad_open(mz_wgrad_t *wgrad, const mz_layer_t *l, bool same) {
    wgrad->layer = l;
    wgrad->same = same;
    wgrad->plain = (l->p_t | l->p_b | l->p_l | l->p_r) == 0;
    wgrad->room = (mz_wgrad_room_t *)(void *)l->scratch;
}

// Limits n gradients, which mostly are inside: those that may not be show in one bit.
static void saturate(int32_t *g, int32_t n) {
    uint32_t seen = 0;
    const int32_t *at = g;
    const int32_t *end = g + n;
    for (; end - at >= 4; at += 4) {
        seen |= (uint32_t)at[0] + MZ_GRADIENT_LIMIT;
        seen |= (uint32_t)at[1] + MZ_GRADIENT_LIMIT;
        seen |= (uint32_t)at[2] + MZ_GRADIENT_LIMIT;
        seen |= (uint32_t)at[3] + MZ_GRADIENT_LIMIT;
    }
    while (at != end) {
        seen |= (uint32_t)*at++ + MZ_GRADIENT_LIMIT;
    }
    for (; (int32_t)seen < 0 && g != end; ++g) {
        *g = mz_sat(*g, -MZ_GRADIENT_LIMIT, MZ_GRADIENT_LIMIT);
    }
}

MZ_BUSY int64_t mz_wgrad_input_error(const mz_layer_t *head, const int32_t *err, int32_t k) {
    const int32_t *end = err + head->out_c;
    int64_t sum = 0;
    for (; err != end; k += head->k) {
        sum += (int64_t)mz_plain_weight(head, k) * mz_error_q8(*err++);
    }
    return sum;
}

void mz_wgrad_row(const mz_layer_t *l, int32_t h, int32_t *row) {
    int32_t at = 0;
    mz_wgrad_t wgrad;
    run_t run = {&wgrad, &at, &h, 1, 0, l->k, row};
    wgrad.layer = l;
    wgrad.same = false;
    saturate(row, l->k);
    add(&run);
    saturate(row, l->k);
}

MZ_BUSY void mz_wgrad_step(int32_t *grad, int32_t n, int32_t shift, int32_t decay, int16_t *master) {
    int32_t one = shift > 0;
    int32_t last = shift - one;
    for (int32_t *end = grad + n; grad != end; ++grad, ++master) {
        // A rounding shift in 32 bits: the last bit that leaves is the rounding.
        int32_t g = *grad;
        int32_t taken = mz_sat((g >> shift) + (g >> last & one), -(1 << 17), 1 << 17);
        *grad = g - (g >> decay);
        *master = (int16_t)mz_sat(*master - taken, -MZ_MASTER_LIMIT, MZ_MASTER_LIMIT);
    }
}

void mz_wgrad_begin(mz_wgrad_t *wgrad, int32_t c, int32_t *grad) {
    int32_t k = wgrad->layer->k;
    wgrad->n = 0;
    wgrad->bias_sum = 0;
    wgrad->sums = grad + c * k;
    saturate(wgrad->sums, k);
}

void mz_wgrad_flush(mz_wgrad_t *wgrad) {
    const mz_layer_t *l = wgrad->layer;
    mz_wgrad_room_t *room = wgrad->room;
    int32_t n = wgrad->n;
    wgrad->n = 0;
    // Whole rows of windows where no window leaves the image at a side, and its cells lie together.
    if (l->dil_w == 1 && (wgrad->plain || choose(room, n, 0, mz_max(l->in_w - l->k_w + 1, 0)) == n)) {
        add_rows(wgrad, &room->all, n, 0, l->k_w * l->in_c);
        return;
    }
    for (int32_t kx = 0; kx < l->k_w; ++kx) {
        if (wgrad->plain) {
            add_rows(wgrad, &room->all, n, kx, l->in_c);
        } else {
            add_rows(wgrad, &room->inside, choose(room, n, kx * l->dil_w, l->in_w), kx, l->in_c);
        }
    }
}

// Whether a value lies between the limits of an operator: one comparison.
typedef struct {
    int32_t above;
    uint32_t count;
} limits_t;

static inline limits_t limits(const mz_layer_t *l) {
    limits_t v = {l->act_min + 1, (uint32_t)mz_max(l->act_max - l->act_min - 1, 0)};
    return v;
}

static inline bool lies_in(limits_t v, int32_t value) {
    return (uint32_t)(value - v.above) < v.count;
}

// Puts those of `count` neighbouring positions that are between the limits; there is room for them.
static MZ_BUSY void put_some(mz_wgrad_t *wgrad, const mz_layer_t *gate, int32_t c, int32_t oy, int32_t ox,
    int32_t count) {
    const mz_layer_t *l = wgrad->layer;
    mz_wgrad_room_t *room = wgrad->room;
    int32_t row = oy * l->s_h - l->p_t;
    int32_t column = ox * l->s_w - l->p_l;
    int32_t at = window_at(l, row, column);
    int32_t move = l->s_w * l->in_c;
    int32_t pitch = l->out_c;
    int32_t first = (oy * l->out_w + ox) * pitch + c;
    const int8_t *out = l->out + first;
    const int8_t *end = out + count * pitch;
    limits_t inside = limits(l);
    int32_t n = wgrad->n;
    if (gate == l && wgrad->plain) {
        for (; out != end; out += pitch, at += move) {
            if (lies_in(inside, *out)) {
                room->all.at[n++] = at;
            }
        }
    } else {
        limits_t through = limits(gate);
        for (const int8_t *other = gate->out + first; out != end; out += pitch, other += pitch) {
            if (lies_in(inside, *out) && lies_in(through, *other)) {
                room->all.at[n] = at;
                room->all.row[n] = row;
                room->column[n++] = column;
            }
            at = (int32_t)((uint32_t)at + (uint32_t)move);
            column += l->s_w;
        }
    }
    wgrad->n = n;
}

static void put_row(mz_wgrad_t *wgrad, const mz_layer_t *gate, int32_t c, int32_t oy, int32_t ox, int32_t count,
    int32_t h) {
    while (count > 0) {
        int32_t before = wgrad->n;
        int32_t some = mz_min(count, MZ_WGRAD_CHUNK - before);
        put_some(wgrad, gate, c, oy, ox, some);
        wgrad->h = h;
        for (int32_t i = before; !wgrad->same && i < wgrad->n; ++i) {
            wgrad->room->all.h[i] = h;
        }
        wgrad->bias_sum += (wgrad->n - before) * h;
        if (wgrad->n == MZ_WGRAD_CHUNK) {
            mz_wgrad_flush(wgrad);
        }
        ox += some;
        count -= some;
    }
}

void mz_wgrad_put_cell(mz_wgrad_t *wgrad, const mz_layer_t *gate, int32_t c, mz_cell_t cell, int32_t h) {
    for (int32_t oy = cell.top; oy < cell.top + cell.h; ++oy) {
        put_row(wgrad, gate, c, oy, cell.left, cell.w, h);
    }
}

void mz_wgrad_put(mz_wgrad_t *wgrad, int32_t oy, int32_t ox, int32_t h) {
    const mz_layer_t *l = wgrad->layer;
    mz_wgrad_room_t *room = wgrad->room;
    int32_t i = wgrad->n++;
    int32_t row = oy * l->s_h - l->p_t;
    int32_t column = ox * l->s_w - l->p_l;
    room->all.at[i] = window_at(l, row, column);
    room->all.row[i] = row;
    room->all.h[i] = h;
    room->column[i] = column;
    wgrad->bias_sum += h;
    if (i == MZ_WGRAD_CHUNK - 1) {
        mz_wgrad_flush(wgrad);
    }
}

void mz_wgrad_end(mz_wgrad_t *wgrad, int32_t c, int32_t *grad) {
    const mz_layer_t *l = wgrad->layer;
    mz_wgrad_flush(wgrad);
    saturate(wgrad->sums, l->k);
    mz_accumulate(&grad[l->out_c * l->k + c], (int64_t)wgrad->bias_sum * 64);
}
