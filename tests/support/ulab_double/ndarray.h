// What native_modules/microzo uses of ulab's header of this name.
#ifndef ULAB_DOUBLE_NDARRAY_H
#define ULAB_DOUBLE_NDARRAY_H

#include "py/obj.h"

#define ULAB_MAX_DIMS (4)

enum { NDARRAY_UINT8 = 'B' };

// The last ndim entries of shape and strides (bytes) are in use.
typedef struct {
    mp_obj_base_t base;
    uint8_t dtype;
    uint8_t itemsize;
    uint8_t boolean;
    uint8_t ndim;
    size_t len;
    size_t shape[ULAB_MAX_DIMS];
    int32_t strides[ULAB_MAX_DIMS];
    void *array;
    mp_obj_t owner;
} ndarray_obj_t;

extern const mp_obj_type_t ulab_ndarray_type;

#endif
