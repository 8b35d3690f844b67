// Dense layer: one position, so every packed row is used once.
#include "ops.h"
#include "tile.h"

void mz_dense(const mz_view_t *view) {
    const mz_layer_t *l = view->layer;
    for (int32_t c = 0; c < l->out_c; c += MZ_TILE) {
        mz_tile_t tile;
        int32_t acc[MZ_TILE];
        mz_tile_load(&tile, view, c);
        mz_tile_start(&tile, acc);
        mz_arch_dot(tile.w, l->k4, 0, l->in, 0, 1, l->k, l->in_zp, acc);
        mz_tile_store(&tile, 0, acc);
    }
}
