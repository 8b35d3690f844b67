// Arrays of ulab as arguments, where ulab is built in beside this module; a part of _microzo.c.
#ifndef MZ_ULAB_ARRAYS_H
#define MZ_ULAB_ARRAYS_H

#include "ndarray.h"

#include "kernels/entry.h"

static void collect_buffer(mp_obj_t object, mp_uint_t access, mz_arg_t *arg);

// Whether the items lie side by side. ulab's own test looks at the first axis alone, so that its buffer
// of x[:, ::-1] ends behind the array.
static bool array_is_dense(const ndarray_obj_t *x) {
    int32_t step = x->itemsize;
    for (int axis = ULAB_MAX_DIMS - 1; axis >= ULAB_MAX_DIMS - x->ndim; --axis) {
        if (x->shape[axis] != 1 && x->strides[axis] != step) {
            return false;
        }
        step *= (int32_t)x->shape[axis];
    }
    return true;
}

// Any dense array of integers, as a buffer.
static void collect_array(mp_obj_t object, mz_arg_t *arg) {
    const ndarray_obj_t *x = MP_OBJ_TO_PTR(object);
    if (x->len > INT32_MAX / 8) {
        raise_status(MZ_E_LENGTH);
    }
    arg->data = x->array;
    arg->n = (int32_t)(x->len * x->itemsize);
    arg->width = x->boolean ? 0 : item_width(x->dtype);
    if (arg->width == 0) {
        raise_status(MZ_E_TYPE);
    }
    if (!array_is_dense(x)) {
        mp_raise_ValueError(MP_ERROR_TEXT("the items of a view do not lie side by side: copy() it"));
    }
}

// Maps one axis after the other of a sample into the input tensor; returns where the next one goes.
static int8_t *map_axis(const ndarray_obj_t *x, int axis, const uint8_t *from, const mz_input_t *input,
    int8_t *to) {
    for (size_t i = 0; i < x->shape[axis]; ++i, from += x->strides[axis]) {
        if (axis < ULAB_MAX_DIMS - 1) {
            to = map_axis(x, axis + 1, from, input, to);
        } else {
            *to++ = input->map[*from];
        }
    }
    return to;
}

// input(plan, blob, arena, x) of an array of uint8, also of a view, which is not copied.
static void input_array(const mp_obj_t *objects) {
    const ndarray_obj_t *x = MP_OBJ_TO_PTR(objects[3]);
    mz_arg_t args[4];
    mz_input_t input;
    for (int i = 0; i < 3; ++i) {
        collect_buffer(objects[i], i == 2 ? MP_BUFFER_RW : MP_BUFFER_READ, &args[i]);
    }
    for (int i = 0; i < 2; ++i) {
        if (mz_bytes_overlap(args[2].data, (uint32_t)args[2].n, args[i].data, (uint32_t)args[i].n)) {
            raise_status(MZ_E_OVERLAP);
        }
    }
    if (x->boolean || x->dtype != NDARRAY_UINT8) {
        raise_status(MZ_E_TYPE);
    }
    args[3].data = x->array;
    args[3].n = (int32_t)x->len;
    args[3].width = 1;
    int32_t status = x->len > INT32_MAX ? MZ_E_LENGTH : mz_input_open(args, &input);
    if (status == MZ_OK && args[3].n != input.count) {
        status = MZ_E_LENGTH;
    }
    if (status < 0) {
        raise_status(status);
    }
    map_axis(x, ULAB_MAX_DIMS - x->ndim, x->array, &input, input.to);
}

#endif
