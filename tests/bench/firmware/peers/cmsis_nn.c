// CMSIS-NN, and muriscv-nn, which takes the same names.
#include <arm_nnfunctions.h>

#include "peer.h"

static cmsis_nn_context context;

static cmsis_nn_dims dims(int32_t n, int32_t h, int32_t w, int32_t c) {
    cmsis_nn_dims d = {n, h, w, c};
    return d;
}

static cmsis_nn_conv_params conv_params(const mz_layer_t *l) {
    cmsis_nn_conv_params p = {
        -l->in_zp, l->out_zp, {l->s_w, l->s_h}, {l->p_l, l->p_t}, {1, 1}, {l->act_min, l->act_max},
    };
    return p;
}

static cmsis_nn_dw_conv_params dw_params(const mz_layer_t *l) {
    cmsis_nn_dw_conv_params p = {
        -l->in_zp, l->out_zp, l->multiplier, {l->s_w, l->s_h}, {l->p_l, l->p_t}, {1, 1}, {l->act_min, l->act_max},
    };
    return p;
}

int peer_prepare(const mz_layer_t *l) {
    cmsis_nn_dims in = dims(1, l->in_h, l->in_w, l->in_c);
    cmsis_nn_dims out = dims(1, l->out_h, l->out_w, l->out_c);
    int32_t size = 0;
    if (l->kind == MZ_CONV) {
        cmsis_nn_dims filter = dims(l->out_c, l->k_h, l->k_w, l->in_c);
        cmsis_nn_conv_params p = conv_params(l);
        size = arm_convolve_wrapper_s8_get_buffer_size(&p, &in, &filter, &out);
    } else if (l->kind == MZ_DWCONV) {
        cmsis_nn_dims filter = dims(1, l->k_h, l->k_w, l->out_c);
        cmsis_nn_dw_conv_params p = dw_params(l);
        size = arm_depthwise_conv_wrapper_s8_get_buffer_size(&p, &in, &filter, &out);
    } else if (l->kind == MZ_AVGPOOL) {
        size = arm_avgpool_s8_get_buffer_size(l->out_w, l->in_c);
    } else if (l->kind == MZ_ADD) {
        // Its inputs are scaled up by the same 20 bits; no constant, nothing spread, no difference.
        return l->in2_id != -1 && l->flags == 0 && l->mult1 >= 0 && l->mult2 >= 0;
    } else if (l->kind != MZ_DENSE) {
        return 0;
    }
    context.buf = peer.work;
    context.size = size;
    return size <= (int32_t)sizeof(peer.work);
}

void peer_run(const mz_layer_t *l) {
    cmsis_nn_per_channel_quant_params quant = {peer.mult, peer.shift};
    cmsis_nn_dims in = dims(1, l->in_h, l->in_w, l->in_c);
    cmsis_nn_dims out = dims(1, l->out_h, l->out_w, l->out_c);
    cmsis_nn_dims bias = dims(1, 1, 1, l->out_c);
    if (l->kind == MZ_CONV) {
        cmsis_nn_dims filter = dims(l->out_c, l->k_h, l->k_w, l->in_c);
        cmsis_nn_conv_params p = conv_params(l);
        arm_convolve_wrapper_s8(&context, &p, &quant, &in, l->in, &filter, peer.weights, &bias, peer.bias, &out,
            peer.out);
    } else if (l->kind == MZ_DWCONV) {
        cmsis_nn_dims filter = dims(1, l->k_h, l->k_w, l->out_c);
        cmsis_nn_dw_conv_params p = dw_params(l);
        arm_depthwise_conv_wrapper_s8(&context, &p, &quant, &in, l->in, &filter, peer.weights, &bias, peer.bias,
            &out, peer.out);
    } else if (l->kind == MZ_DENSE) {
        cmsis_nn_dims filter = dims(l->k, 1, 1, l->out_c);
        cmsis_nn_fc_params p = {-l->in_zp, 0, l->out_zp, {l->act_min, l->act_max}};
        arm_fully_connected_per_channel_s8(&context, &p, &quant, &in, l->in, &filter, peer.weights, &bias, peer.bias,
            &out, peer.out);
    } else if (l->kind == MZ_AVGPOOL) {
        cmsis_nn_dims filter = dims(1, l->k_h, l->k_w, 1);
        cmsis_nn_pool_params p = {{l->s_w, l->s_h}, {l->p_l, l->p_t}, {l->act_min, l->act_max}};
        arm_avgpool_s8(&context, &p, &in, l->in, &filter, &out, peer.out);
    } else {
        arm_elementwise_add_s8(l->in, l->in2, -l->in_zp, l->mult1, l->shift1, -l->in2_zp, l->mult2, l->shift2, 20,
            peer.out, l->out_zp, l->add_mult, l->add_shift, l->act_min, l->act_max, l->out_size);
    }
}
