// A tile of packed weight rows with its channels, shared by conv and dense.
#ifndef MZ_TILE_H
#define MZ_TILE_H

#include "arch/arch.h"
#include "output.h"
#include "pack.h"

typedef struct {
    const mz_view_t *view;
    int32_t c; // first channel
    int32_t n; // channels, at most MZ_TILE
    int16_t *w;
    mz_channel_t channels[MZ_TILE];
} mz_tile_t;

static inline void mz_tile_load(mz_tile_t *tile, const mz_view_t *view, int32_t c) {
    const mz_layer_t *l = view->layer;
    tile->view = view;
    tile->c = c;
    tile->n = mz_min(MZ_TILE, l->out_c - c);
    tile->w = (int16_t *)l->scratch;
    for (int32_t i = 0; i < MZ_TILE; ++i) {
        // A short last tile repeats its last channel; the copies are not stored.
        int32_t row = c + mz_min(i, tile->n - 1);
        mz_pack_row(view, row, tile->w + i * l->k4);
    }
    mz_channels_load(view, c, tile->n, tile->channels);
    for (int32_t i = tile->n; i < MZ_TILE; ++i) {
        tile->channels[i] = tile->channels[tile->n - 1];
    }
}

static inline void mz_tile_start(const mz_tile_t *tile, int32_t *acc) {
    for (int32_t i = 0; i < MZ_TILE; ++i) {
        acc[i] = tile->channels[i].bias;
    }
}

static inline void mz_tile_store(const mz_tile_t *tile, int32_t p, const int32_t *acc) {
    mz_output(tile->view, p, tile->c, tile->n, tile->channels, acc);
}

#endif
