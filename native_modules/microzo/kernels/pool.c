// Average and maximum pooling over the cells inside the image.
#include "ops.h"
#include "window.h"

// Half away from zero.
static int32_t divide(int32_t sum, int32_t n) {
    return (sum < 0 ? sum - n / 2 : sum + n / 2) / n;
}

static int32_t average(const int8_t *x, int32_t x_step, int32_t x_pitch, int32_t rows, int32_t cols) {
    int32_t sum = 0;
    for (int32_t row = 0; row < rows; ++row) {
        for (int32_t col = 0; col < cols; ++col) {
            sum += x[col * x_pitch];
        }
        x += x_step;
    }
    return divide(sum, rows * cols);
}

static int32_t maximum(const int8_t *x, int32_t x_step, int32_t x_pitch, int32_t rows, int32_t cols) {
    int32_t best = -128;
    for (int32_t row = 0; row < rows; ++row) {
        for (int32_t col = 0; col < cols; ++col) {
            best = mz_max(best, x[col * x_pitch]);
        }
        x += x_step;
    }
    return best;
}

static void pool(const mz_layer_t *l, bool averages) {
    int32_t x_step = l->in_w * l->in_c;
    int8_t *out = l->out;
    for (int32_t oy = 0; oy < l->out_h; ++oy) {
        mz_window_t wy = mz_window(oy, l->s_h, l->p_t, l->k_h, l->in_h);
        int32_t rows = wy.hi - wy.lo;
        for (int32_t ox = 0; ox < l->out_w; ++ox) {
            mz_window_t wx = mz_window(ox, l->s_w, l->p_l, l->k_w, l->in_w);
            int32_t cols = wx.hi - wx.lo;
            const int8_t *x = l->in + (wy.at * l->in_w + wx.at) * l->in_c;
            for (int32_t c = 0; c < l->out_c; ++c) {
                int32_t v = averages ? average(x + c, x_step, l->in_c, rows, cols)
                    : maximum(x + c, x_step, l->in_c, rows, cols);
                *out++ = (int8_t)mz_sat(v, l->act_min, l->act_max);
            }
        }
    }
}

void mz_avgpool(const mz_layer_t *layer) {
    pool(layer, true);
}

void mz_maxpool(const mz_layer_t *layer) {
    pool(layer, false);
}
