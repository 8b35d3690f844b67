#include "layer.h"
#include "requant.h"

#define MAX_SIDE 65535
#define MAX_BYTES (1 << 24)
#define MAX_CELLS (1 << 22) // of a pool: their sum stays below 2^30

// A size of checked words, at most MAX_BYTES, which no operator may reach.
static MZ_RARE int32_t product(int32_t a, int32_t b, int32_t c) {
    uint64_t v = (uint64_t)((uint32_t)a * (uint32_t)b) * (uint32_t)c;
    return v < MAX_BYTES ? (int32_t)v : MAX_BYTES;
}

// The address of `bytes` bytes at `offset` of a span, or NULL.
static MZ_RARE void *place(const mz_span_t *span, int32_t offset, int32_t bytes, int32_t align) {
    if (offset < 0 || (offset & (align - 1)) || bytes > span->len || offset > span->len - bytes) {
        return NULL;
    }
    return span->data + offset;
}

int32_t mz_net_open(mz_net_t *net, int32_t plan_len) {
    const int32_t *h = net->plan;
    if (plan_len < MZ_HEADER_WORDS * 4 || h[MZ_H_MAGIC] != MZ_MAGIC || h[MZ_H_MAJOR] != MZ_MAJOR) {
        return MZ_E_PLAN;
    }
    net->n_ops = h[MZ_H_N_OPS];
    net->classes = h[MZ_H_CLASSES];
    if (!mz_within(net->n_ops, 1, MZ_MAX_OPS)
        || plan_len < 4 * (MZ_HEADER_WORDS + MZ_OP_WORDS * net->n_ops)) {
        return MZ_E_PLAN;
    }
    if (!mz_within(net->classes, 1, MZ_MAX_CLASSES)) {
        return MZ_E_LOGITS;
    }
    net->logits = NULL;
    net->scratch = NULL;
    net->scratch_len = 0;
    if (net->use & MZ_USE_ARENA) {
        net->scratch_len = h[MZ_H_SCRATCH_LEN];
        net->logits = place(&net->arena, h[MZ_H_LOGITS_OFF], 4 * net->classes, 4);
        if (net->scratch_len < 0) {
            return MZ_E_SCRATCH;
        }
        net->scratch = place(&net->arena, h[MZ_H_SCRATCH_OFF], net->scratch_len, 4);
        if (net->logits == NULL || net->scratch == NULL) {
            return MZ_E_OFFSET;
        }
        if (mz_bytes_overlap(net->scratch, (uint32_t)net->scratch_len, net->logits,
            4 * (uint32_t)net->classes)) {
            return MZ_E_SCRATCH;
        }
    }
    return MZ_OK;
}

// Whether n words of an operator are lo..hi.
static MZ_RARE bool all_within(const int32_t *words, int32_t n, int32_t lo, int32_t hi) {
    for (const int32_t *end = words + n; words != end; ++words) {
        if ((uint32_t)*words - (uint32_t)lo > (uint32_t)hi - (uint32_t)lo) {
            return false;
        }
    }
    return true;
}

// Whether the output sizes follow from the inputs, windows and pads, both directions.
static bool windows_fit(const mz_layer_t *l) {
    const int32_t *h = &l->in_h;
    for (int32_t i = 0; i < 2; ++i) {
        const int32_t *pads = &l->p_t + 2 * i;
        int32_t room = h[i] + pads[0] + pads[1] - 1;
        uint32_t reach = (uint32_t)((&l->k_h)[i] - 1) * (uint32_t)(&l->dil_h)[i];
        if (room < 0 || reach > (uint32_t)room
            || (&l->out_h)[i] != (room - (int32_t)reach) / (&l->s_h)[i] + 1) {
            return false;
        }
    }
    return true;
}

// Exactly one side of the output is larger than the first input's, the others are equal.
static bool concat_fits(const mz_layer_t *l) {
    int32_t h = l->out_h - l->in_h;
    int32_t w = l->out_w - l->in_w;
    int32_t c = l->out_c - l->in_c;
    return h >= 0 && w >= 0 && c >= 0 && (h != 0) + (w != 0) + (c != 0) == 1;
}

static int32_t second_size(const mz_layer_t *l) {
    if (l->kind == MZ_CONCAT) {
        return l->out_size - l->in_size;
    }
    int32_t places = l->flags & MZ_FLAG_SPREAD_HW ? 1 : l->in_h * l->in_w;
    return places * (l->flags & MZ_FLAG_SPREAD_C ? 1 : l->in_c);
}

static int32_t check_shape(mz_layer_t *l) {
    bool weighted = mz_has_weights(l->kind);
    l->dil_h = weighted ? mz_max(MZ_DIL_H(l), 1) : 1;
    l->dil_w = weighted ? mz_max(MZ_DIL_W(l), 1) : 1;
    if (!all_within(&l->in_h, 6, 1, MAX_SIDE) || !all_within(&l->k_h, 4, 1, MAX_SIDE)
        || !all_within(&l->p_t, 4, l->kind == MZ_PAD ? -MAX_SIDE : 0, MAX_SIDE)
        || (weighted && !all_within(&MZ_DIL_H(l), 2, 0, MAX_SIDE))) {
        return MZ_E_SHAPE;
    }
    l->in_size = product(l->in_h, l->in_w, l->in_c);
    l->out_size = product(l->out_h, l->out_w, l->out_c);
    l->k = product(l->k_h, l->k_w, l->kind == MZ_CONV || l->kind == MZ_DENSE ? l->in_c : 1);
    int32_t weights = product(weighted ? l->out_c : 1, l->k, 1);
    // The rows that a depthwise convolution expands.
    int32_t rows = product(l->kind == MZ_DWCONV ? 8 * (l->in_w + l->p_l + l->p_r) : 1, l->k_h, 1);
    if (mz_max(mz_max(l->in_size, l->out_size), mz_max(rows, weights)) >= MAX_BYTES
        || (!weighted && l->k >= MAX_CELLS)) {
        return MZ_E_SHAPE;
    }
    l->k4 = (l->k + 3) & ~3;
    l->multiplier = 1;

    bool fits = windows_fit(l);
    bool single = (l->k_h | l->k_w | l->s_h | l->s_w) == 1;
    bool padless = (l->p_t | l->p_b | l->p_l | l->p_r) == 0;
    bool same_channels = l->in_c == l->out_c;
    switch (l->kind) {
        case MZ_DENSE:
            fits = fits && l->in_h == 1 && l->in_w == 1 && single && padless;
            break;
        case MZ_ADD:
        case MZ_MUL:
        case MZ_LUT:
            fits = fits && same_channels && single && padless;
            break;
        case MZ_CONCAT:
            fits = concat_fits(l) && single && padless;
            break;
        case MZ_MEAN:
            fits = fits && same_channels && padless;
            break;
        case MZ_PAD:
            fits = fits && same_channels && single;
            break;
        case MZ_DWCONV:
            fits = fits && l->out_c % l->in_c == 0;
            l->multiplier = l->out_c / l->in_c;
            break;
        case MZ_AVGPOOL:
        case MZ_MAXPOOL:
            // Pads smaller than the kernel: every window has a cell inside the image.
            fits = fits && same_channels && l->p_t < l->k_h && l->p_b < l->k_h
                && l->p_l < l->k_w && l->p_r < l->k_w;
            break;
        default:
            break;
    }
    l->in2_size = mz_has_second(l->kind) ? second_size(l) : 0;
    return fits ? MZ_OK : MZ_E_SHAPE;
}

static bool scale_ok(int32_t mult, int32_t shift, int32_t least) {
    return (mult == 0 || mult >= least) && mz_shift_ok(shift);
}

static int32_t check_quant(const mz_layer_t *l) {
    if (!all_within(&l->in_zp, 5, -128, 127) || l->act_max < l->act_min) {
        return MZ_E_QUANT;
    }
    if (l->kind == MZ_ADD) {
        // The inputs are scaled by at most one half, which keeps their sum in 32 bits.
        // A negative multiplier makes a difference.
        if (l->mult1 == INT32_MIN || l->mult2 == INT32_MIN
            || !mz_mult_ok(l->mult1 < 0 ? -l->mult1 : l->mult1)
            || !mz_mult_ok(l->mult2 < 0 ? -l->mult2 : l->mult2)
            || !mz_within(l->shift1, MZ_SHIFT_MIN, 0) || !mz_within(l->shift2, MZ_SHIFT_MIN, 0)) {
            return MZ_E_QUANT;
        }
    }
    if (l->kind == MZ_ADD || l->kind == MZ_MUL || l->kind == MZ_MEAN) {
        int32_t least = l->kind == MZ_MEAN ? MZ_MULT_MIN / 2 : MZ_MULT_MIN;
        if (!scale_ok(l->add_mult, l->add_shift, least)) {
            return MZ_E_QUANT;
        }
    }
    if (mz_has_weights(l->kind)) {
        if (!mz_within(l->b_max, 0, (1 << 30) - 1) || !mz_within(l->f, 0, 8)
            || !mz_within(l->eps_w, 0, 127) || !mz_within(l->eps_b, 0, 16)) {
            return MZ_E_QUANT;
        }
    }
    return MZ_OK;
}

// The largest |accumulator| that the plan allows stays below 2^30, and below 2^31 also
// when masters are out of range and biases perturbed. Whether the state is given or not.
static int32_t check_overflow(const mz_layer_t *l) {
    int32_t f = l->master_off >= 0 ? l->f : 0;
    int64_t weight = (127 + l->eps_w) * (1 << f);
    if (weight > INT16_MAX) {
        return MZ_E_OVERFLOW; // packed weights are int16
    }
    int64_t input = mz_max(127 - l->in_zp, l->in_zp + 128);
    if (MZ_ABS_SUM(l) != 0) {
        // More inputs than any weights allow, but fewer than these weights do: nothing moves.
        bool frozen = (l->master_off & l->bias_off & l->ms_off) < 0
            && (l->eps_w | l->eps_b | l->f) == 0;
        return frozen && MZ_ABS_SUM(l) > 0 && MZ_ABS_SUM(l) * input + l->b_max < (int64_t)1 << 30 ? MZ_OK
            : MZ_E_OVERFLOW;
    }
    int64_t bound = weight * input * l->k + ((int64_t)l->b_max << f);
    int64_t excess = (input * l->k + ((int64_t)l->eps_b << 18)) * ((int64_t)1 << f);
    if (bound >= (int64_t)1 << 30 || bound + excess > INT32_MAX) {
        return MZ_E_OVERFLOW;
    }
    return MZ_OK;
}

static int32_t scratch_needed(const mz_layer_t *l) {
    switch (l->kind) {
        case MZ_CONV:
            return mz_max(22 * l->k4 + 128, 3072);
        case MZ_DENSE:
            return 12 * l->k4 + 128;
        case MZ_DWCONV:
            return 32 * l->k + 8 * (l->in_w + l->p_l + l->p_r) * l->k_h + 128;
        default:
            return 0;
    }
}

static bool overlaps_out(const mz_layer_t *l, const void *data, int32_t len) {
    return mz_bytes_overlap(l->out, (uint32_t)l->out_size, data, (uint32_t)len);
}

// Whether bytes that the operator may use are apart from its tensors.
static bool apart(const mz_layer_t *l, const void *data, int32_t len) {
    return !mz_bytes_overlap(data, (uint32_t)len, l->in, (uint32_t)l->in_size) && !overlaps_out(l, data, len)
        && (l->in2 == NULL || !mz_bytes_overlap(data, (uint32_t)len, l->in2, (uint32_t)l->in2_size));
}

// The room that a plan promises to a CONV; none if it is no place for anything.
static void place_room(const mz_net_t *net, mz_layer_t *l) {
    if (l->kind != MZ_CONV || MZ_ROOM_LEN(l) <= 0) {
        return;
    }
    uint8_t *room = place(&net->arena, l->in2_off, MZ_ROOM_LEN(l), 4);
    if (room != NULL && apart(l, room, MZ_ROOM_LEN(l))
        && !mz_bytes_overlap(room, (uint32_t)MZ_ROOM_LEN(l), l->scratch, (uint32_t)l->scratch_len)
        && !mz_bytes_overlap(room, (uint32_t)MZ_ROOM_LEN(l), net->logits, 4 * (uint32_t)net->classes)) {
        l->room = room;
    }
}

static int32_t place_arena(const mz_net_t *net, mz_layer_t *l) {
    l->in = place(&net->arena, l->in_off, l->in_size, 4);
    l->out = place(&net->arena, l->out_off, l->out_size, 4);
    bool second = mz_has_second(l->kind) && (l->in2_id != -1 || l->kind == MZ_CONCAT);
    if (second) {
        l->in2 = place(&net->arena, l->in2_off, l->in2_size, 4);
    }
    if (l->in == NULL || l->out == NULL || (second && l->in2 == NULL)) {
        return MZ_E_OFFSET;
    }
    // The order of reading and writing is a kernel's own affair: no operator runs in place.
    if (overlaps_out(l, l->in, l->in_size) || (l->in2 != NULL && overlaps_out(l, l->in2, l->in2_size))
        || ((l->flags & MZ_FLAG_EMIT_LOGITS)
            && (overlaps_out(l, net->logits, 4 * net->classes)
                || mz_bytes_overlap(l->in, (uint32_t)l->in_size, net->logits,
                    4 * (uint32_t)net->classes)))) {
        return MZ_E_OFFSET;
    }
    int32_t needed = scratch_needed(l);
    l->scratch = net->scratch;
    l->scratch_len = needed;
    // Packed weights must not change while they are used.
    if (needed > net->scratch_len || !apart(l, l->scratch, needed)) {
        return MZ_E_SCRATCH;
    }
    // More of it saves work where it is at hand.
    if ((l->kind == MZ_CONV || l->kind == MZ_ADD) && apart(l, l->scratch, net->scratch_len)) {
        l->scratch_len = net->scratch_len;
    }
    place_room(net, l);
    if (l->flags & MZ_FLAG_EMIT_LOGITS) {
        l->logits = net->logits;
    }
    return MZ_OK;
}

static int32_t place_blob(const mz_net_t *net, mz_layer_t *l) {
    int32_t c = l->out_c;
    l->weights = place(&net->blob, l->w_off, c * l->k, 1);
    l->bias = place(&net->blob, l->b_off, 4 * c, 4);
    l->mult = place(&net->blob, l->m_off, 4 * c, 4);
    l->shift = place(&net->blob, l->s_off, c, 1);
    if (l->weights == NULL || l->bias == NULL || l->mult == NULL || l->shift == NULL) {
        return MZ_E_OFFSET;
    }
    if (l->flags & MZ_FLAG_EMIT_LOGITS) {
        l->lmult = place(&net->blob, l->l_off, 4 * c, 4);
        l->lshift = place(&net->blob, l->ls_off, c, 1);
        if (l->lmult == NULL || l->lshift == NULL) {
            return MZ_E_OFFSET;
        }
    }
    if (l->stat_off != -1) {
        l->stat = place(&net->blob, l->stat_off, 8 * c, 4);
        if (l->stat == NULL) {
            return MZ_E_OFFSET;
        }
    }
    return MZ_OK;
}

// The constant operand of a sum or product, the table of a LUT.
static int32_t place_constant(const mz_net_t *net, mz_layer_t *l) {
    if (l->kind == MZ_LUT) {
        l->weights = place(&net->blob, l->w_off, 256, 1);
        return l->weights == NULL ? MZ_E_OFFSET : MZ_OK;
    }
    if ((l->kind == MZ_ADD || l->kind == MZ_MUL) && l->in2_id == -1) {
        l->in2 = place(&net->blob, l->w_off, l->in2_size, 1);
        return l->in2 == NULL ? MZ_E_OFFSET : MZ_OK;
    }
    return MZ_OK;
}

static int32_t place_state(const mz_net_t *net, mz_layer_t *l) {
    int32_t c = l->out_c;
    if (l->master_off != -1) {
        l->master = place(&net->state, l->master_off, 2 * c * l->k, 4);
        if (l->master == NULL) {
            return MZ_E_OFFSET;
        }
    }
    if (l->bias_off != -1) {
        l->state_bias = place(&net->state, l->bias_off, 4 * c, 4);
        if (l->state_bias == NULL) {
            return MZ_E_OFFSET;
        }
    }
    if (l->ms_off != -1) {
        l->state_mult = place(&net->state, l->ms_off, 5 * c, 4);
        if (l->state_mult == NULL) {
            return MZ_E_OFFSET;
        }
        l->state_shift = (int8_t *)(l->state_mult + c);
    }
    return MZ_OK;
}

// Words that the compiler copies in a few instructions, and pointers of any type.
typedef struct {
    int32_t words[8];
} __attribute__((may_alias)) chunk_t;
typedef const void *__attribute__((may_alias)) any_t;

_Static_assert(offsetof(mz_layer_t, add_shift) == 4 * MZ_O_SHIFT && MZ_OP_WORDS % 8 == 0,
    "mz_layer_t begins with the words of an operator");

int32_t mz_layer_load(const mz_net_t *net, int32_t index, mz_layer_t *l) {
    const chunk_t *from = (const chunk_t *)(net->plan + MZ_HEADER_WORDS + MZ_OP_WORDS * index);
    for (int32_t i = 0; i < MZ_OP_WORDS / 8; ++i) {
        ((chunk_t *)l)[i] = from[i];
    }
    for (any_t *p = (any_t *)&l->in; p < (any_t *)(l + 1); ++p) {
        *p = NULL;
    }

    bool weighted = mz_has_weights(l->kind);
    bool emits = l->flags & MZ_FLAG_EMIT_LOGITS;
    int32_t known = weighted ? MZ_FLAG_EMIT_LOGITS | MZ_FLAG_ROUND_ONCE
        : l->kind == MZ_ADD || l->kind == MZ_MUL ? MZ_FLAG_SPREAD_HW | MZ_FLAG_SPREAD_C : 0;
    if (!mz_within(l->kind, MZ_CONV, MZ_LUT) || !mz_within(l->tid, 0, (1 << 20) - 1)
        || (l->flags & ~known)) {
        return MZ_E_KIND;
    }
    MZ_TRY(check_shape(l));
    MZ_TRY(check_quant(l));
    if (emits && (index != net->n_ops - 1 || l->out_size != l->out_c || l->out_c != net->classes)) {
        return MZ_E_LOGITS;
    }
    if (net->use & MZ_USE_ARENA) {
        MZ_TRY(place_arena(net, l));
    }
    if (weighted) {
        if (net->use & MZ_USE_BLOB) {
            MZ_TRY(place_blob(net, l));
        }
        if (net->use & MZ_USE_STATE) {
            MZ_TRY(place_state(net, l));
        }
        MZ_TRY(check_overflow(l));
    } else if (net->use & MZ_USE_BLOB) {
        MZ_TRY(place_constant(net, l));
    }
    return MZ_OK;
}

int32_t mz_layers_check(const mz_net_t *net, int32_t first, int32_t last) {
    mz_layer_t layer;
    for (int32_t i = first; i < last; ++i) {
        MZ_TRY(mz_layer_load(net, i, &layer));
    }
    return MZ_OK;
}
