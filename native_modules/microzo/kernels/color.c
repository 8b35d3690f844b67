#include "color.h"
#include "pack.h"
#include "rng.h"
#include "window.h"

#define ONE (1 << 23)
#define MOST (1 << 28) // 64 products of two such numbers fit 63 bits
#define ROUNDS 16 // of Newton's iteration; an eigenvalue of 2^-11 takes 13
#define NEAR 32 // in Q23: what rounding leaves of the distance from the identity
#define PEAK 32512 // of a master

static int32_t accumulate(const mz_layer_t *l, int32_t c, mz_window_t y, mz_window_t x) {
    int32_t sum = 0;
    int32_t pitch = l->in_w * l->in_c;
    for (int32_t ky = y.lo, iy = y.at; ky < y.hi; ++ky, iy += l->dil_h) {
        for (int32_t kx = x.lo, ix = x.at; kx < x.hi; ++kx, ix += l->dil_w) {
            const int8_t *in = l->in + iy * pitch + ix * l->in_c;
            int32_t w = c * l->k + (ky * l->k_w + kx) * l->in_c;
            for (int32_t i = 0; i < l->in_c; ++i) {
                sum += (in[i] - l->in_zp) * mz_plain_weight(l, w + i);
            }
        }
    }
    return sum;
}

void mz_color_sums(const mz_layer_t *l, int32_t seed, int32_t sample, int32_t places, int32_t shift,
    int64_t *sums, int64_t *products) {
    int32_t values[MZ_COLORS];
    for (int32_t p = 0; p < places; ++p) {
        int32_t where = mz_derive(seed, sample, p);
        mz_window_t y = mz_taps((where >> 15) % l->out_h, l->s_h, l->p_t, l->k_h, l->in_h, l->dil_h);
        mz_window_t x = mz_taps((where & 32767) % l->out_w, l->s_w, l->p_l, l->k_w, l->in_w, l->dil_w);
        uint64_t *to = (uint64_t *)products;
        for (int32_t i = 0; i < l->out_c; ++i) {
            int32_t v = accumulate(l, i, y, x) >> shift;
            values[i] = v;
            sums[i] = (int64_t)((uint64_t)sums[i] + (uint64_t)(int64_t)v);
            for (int32_t j = 0; j <= i; ++j) {
                *to++ += (uint64_t)((int64_t)v * values[j]);
            }
        }
    }
}

static int32_t limited(int64_t v) {
    return mz_clip(v, -MOST, MOST);
}

// Q23 of a sum of products, to the nearest.
static int32_t rounded(int64_t sum) {
    return limited((sum + (ONE >> 1)) >> 23);
}

// Central products of two channels, n times their covariance; MZ_E_VALUE where n values below
// MZ_COLOR_VALUE cannot give them.
static int32_t central(int32_t n, int64_t sum_i, int64_t sum_j, int64_t product, int64_t *out) {
    int64_t rest;
    int64_t i = mz_floor_div(sum_i, n, &rest);
    int64_t j = mz_floor_div(sum_j, n, &rest);
    int64_t most = MZ_COLOR_VALUE;
    if (i < -most || i >= most || j < -most || j >= most || product < -most * most * n
        || product > most * most * n) {
        return MZ_E_VALUE;
    }
    *out = product - i * sum_j - j * sum_i + n * i * j;
    return MZ_OK;
}

// Correlations in Q23, shrunken; of a channel without spread none. d: square roots of the diagonal.
static int32_t correlations(int32_t c, int32_t n, int32_t shrink, const int64_t *sums, const int64_t *products,
    const int16_t *root, uint32_t *d, int32_t *a) {
    int64_t v;
    int64_t rest;
    for (int32_t i = 0; i < c; ++i) {
        int32_t diagonal = i * (i + 3) / 2;
        MZ_TRY(central(n, sums[i], sums[i], products[diagonal], &v));
        d[i] = v <= 0 || root[diagonal] <= 0 ? 0 : mz_isqrt((uint64_t)v);
    }
    for (int32_t i = 0; i < c; ++i) {
        a[i * c + i] = ONE;
        for (int32_t j = 0; j < i; ++j) {
            MZ_TRY(central(n, sums[i], sums[j], products[i * (i + 1) / 2 + j], &v));
            int32_t r = 0;
            if (d[i] && d[j]) {
                v = mz_floor_div(v, d[i], &rest);
                v = mz_floor_div(mz_sat64(v, -((int64_t)1 << 32), (int64_t)1 << 32) * ONE, d[j], &rest);
                r = mz_clip(v, -ONE, ONE);
                r = (int32_t)(((int64_t)r * (256 - shrink)) >> 8);
            }
            a[i * c + j] = r;
            a[j * c + i] = r;
        }
    }
    return MZ_OK;
}

// Divides by the largest sum of a row, so that no eigenvalue is above 1.
static void scale_down(int32_t c, int32_t *a) {
    int64_t most = 0;
    int64_t rest;
    for (int32_t i = 0; i < c; ++i) {
        int64_t sum = 0;
        for (int32_t j = 0; j < c; ++j) {
            int32_t v = a[i * c + j];
            sum += v < 0 ? -v : v;
        }
        most = sum > most ? sum : most;
    }
    for (int32_t i = 0; i < c * c; ++i) {
        a[i] = (int32_t)mz_floor_div((int64_t)a[i] * ONE, most, &rest);
    }
}

// z = a^(-1/2) by the coupled Newton iteration y <- y m, z <- m z, m = (3 - z y) / 2, which starts
// from y = a, z = 1 (Higham 2008, Functions of Matrices, 6.35).
static void inverse_root(int32_t c, int32_t *y, int32_t *z, int32_t *m) {
    int32_t line[MZ_COLORS];
    for (int32_t i = 0; i < c * c; ++i) {
        z[i] = i % (c + 1) ? 0 : ONE;
    }
    for (int32_t round = 0; round < ROUNDS; ++round) {
        int32_t off = 0;
        for (int32_t i = 0; i < c; ++i) {
            for (int32_t j = 0; j < c; ++j) {
                int64_t sum = 0;
                for (int32_t k = 0; k < c; ++k) {
                    sum += (int64_t)z[i * c + k] * y[k * c + j];
                }
                int32_t unit = i == j ? ONE : 0;
                int32_t apart = unit - rounded(sum);
                m[i * c + j] = unit + (apart >> 1);
                off = mz_max(off, apart < 0 ? -apart : apart);
            }
        }
        if (off <= NEAR) {
            return;
        }
        for (int32_t i = 0; i < c; ++i) { // a row of y m, then a column of m z
            for (int32_t k = 0; k < c; ++k) {
                line[k] = y[i * c + k];
            }
            for (int32_t j = 0; j < c; ++j) {
                int64_t sum = 0;
                for (int32_t k = 0; k < c; ++k) {
                    sum += (int64_t)line[k] * m[k * c + j];
                }
                y[i * c + j] = rounded(sum);
            }
            for (int32_t k = 0; k < c; ++k) {
                line[k] = z[k * c + i];
            }
            for (int32_t j = 0; j < c; ++j) {
                int64_t sum = 0;
                for (int32_t k = 0; k < c; ++k) {
                    sum += (int64_t)m[j * c + k] * line[k];
                }
                z[j * c + i] = rounded(sum);
            }
        }
    }
}

static int32_t symmetric(const int16_t *lower, int32_t i, int32_t j) {
    return i < j ? lower[j * (j + 1) / 2 + i] : lower[i * (i + 1) / 2 + j];
}

// One row of root * z / d, as long as int16 allows.
static void map_row(int32_t c, int32_t row, const int16_t *root, const int32_t *z, const uint32_t *d,
    uint32_t widest, int16_t *out) {
    int64_t values[MZ_COLORS];
    int64_t peak = 0;
    int64_t rest;
    for (int32_t j = 0; j < c; ++j) {
        int64_t v = 0;
        for (int32_t k = 0; k < c && d[j]; ++k) {
            v += (int64_t)symmetric(root, row, k) * z[k * c + j];
        }
        if (d[j]) {
            int64_t share = mz_floor_div((int64_t)widest << 15, d[j], &rest);
            v = (v >> 12) * mz_sat64(share, 0, 1 << 24);
        }
        values[j] = v >> 16;
        int64_t size = values[j] < 0 ? -values[j] : values[j];
        peak = size > peak ? size : peak;
    }
    for (int32_t j = 0; j < c; ++j) {
        out[j] = peak == 0 || !d[row] ? (int16_t)(j == row ? INT16_MAX : 0)
                                      : (int16_t)mz_rdiv(values[j] * INT16_MAX, peak);
    }
}

int32_t mz_color_map(int32_t c, int32_t n, int32_t shrink, const int64_t *sums, const int64_t *products,
    const int16_t *root, int32_t *room, int16_t *map) {
    uint32_t d[MZ_COLORS];
    uint32_t widest = 0;
    int32_t *y = room;
    int32_t *z = room + c * c;
    MZ_TRY(correlations(c, n, shrink, sums, products, root, d, y));
    for (int32_t i = 0; i < c; ++i) {
        widest = d[i] > widest ? d[i] : widest;
    }
    scale_down(c, y);
    inverse_root(c, y, z, z + c * c);
    for (int32_t i = 0; i < c; ++i) {
        map_row(c, i, root, z, d, widest, map + i * c);
    }
    return MZ_OK;
}

static int64_t mixed(const int16_t *row, const int16_t *column, int32_t c) {
    int64_t sum = 0;
    for (int32_t j = 0; j < c; ++j) {
        sum += row[j] * column[j]; // below 2^30 each
    }
    return sum;
}

static void read_column(const mz_layer_t *l, int32_t at, int16_t *column) {
    for (int32_t j = 0; j < l->out_c; ++j) {
        column[j] = l->master[j * l->k + at];
    }
}

void mz_color_mix(const mz_layer_t *l, const int16_t *map) {
    int64_t peaks[MZ_COLORS];
    int16_t column[MZ_COLORS];
    int32_t c = l->out_c;
    for (int32_t i = 0; i < c; ++i) {
        peaks[i] = 1;
    }
    for (int32_t at = 0; at < l->k; ++at) {
        read_column(l, at, column);
        for (int32_t i = 0; i < c; ++i) {
            int64_t v = mixed(map + i * c, column, c);
            v = v < 0 ? -v : v;
            peaks[i] = v > peaks[i] ? v : peaks[i];
        }
    }
    for (int32_t at = 0; at < l->k; ++at) {
        read_column(l, at, column);
        for (int32_t i = 0; i < c; ++i) {
            l->master[i * l->k + at] = (int16_t)mz_rdiv(mixed(map + i * c, column, c) * PEAK, peaks[i]);
        }
    }
}
