#include "pack.h"
#include "arch/arch.h"

void mz_pack_row(const mz_view_t *view, int32_t row, int16_t *to) {
    const mz_layer_t *l = view->layer;
    int32_t k = l->k;
    int32_t start = row * k;
    if (l->master == NULL) {
        mz_arch_load8(l->weights + start, k, to);
    } else if (view->wide) {
        mz_arch_load16(l->master + start, k, 0, 8 - view->f, to);
    } else {
        mz_arch_load16(l->master + start, k, 128, 8, to);
    }
    if (view->eps != 0) {
        mz_arch_perturb(to, k, view->eps, view->weight_stream, (uint32_t)row * mz_row_words(k));
    }
    for (int32_t r = k; r < l->k4; ++r) {
        to[r] = 0;
    }
}
