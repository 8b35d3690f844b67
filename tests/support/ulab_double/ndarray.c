// A stand-in for ulab: arrays of any kind, shape and strides, whose dtype is the number of a type code,
// whose bool is an uint8 with a flag, and whose buffer looks at the stride of the first axis alone, as
// ulab's does. Python makes them by numpy.view(buffer, code, shape, strides, offset, boolean).
#include "py/binary.h"
#include "py/runtime.h"

#include "ndarray.h"

static size_t first(const ndarray_obj_t *x) {
    return ULAB_MAX_DIMS - x->ndim;
}

static ndarray_obj_t *blank(char code, bool boolean, size_t ndim, mp_obj_t owner, void *array) {
    ndarray_obj_t *x = mp_obj_malloc(ndarray_obj_t, &ulab_ndarray_type);
    x->dtype = code;
    x->itemsize = mp_binary_get_size('@', code, NULL);
    x->boolean = boolean;
    x->ndim = ndim;
    x->len = 1;
    x->array = array;
    x->owner = owner;
    return x;
}

static void axis(ndarray_obj_t *x, size_t i, size_t length, int32_t stride) {
    x->shape[first(x) + i] = length;
    x->strides[first(x) + i] = stride;
    x->len *= length;
}

static mp_obj_t view(size_t n_args, const mp_obj_t *args) {
    (void)n_args;
    mp_buffer_info_t info;
    size_t ndim;
    mp_obj_t *shape, *strides;
    mp_get_buffer_raise(args[0], &info, MP_BUFFER_READ);
    mp_obj_get_array(args[2], &ndim, &shape);
    mp_obj_get_array_fixed_n(args[3], ndim, &strides);
    ndarray_obj_t *x = blank(*mp_obj_str_get_str(args[1]), mp_obj_is_true(args[5]), ndim, args[0],
        (uint8_t *)info.buf + mp_obj_get_int(args[4]));
    for (size_t i = 0; i < ndim; ++i) {
        axis(x, i, mp_obj_get_int(shape[i]), mp_obj_get_int(strides[i]));
    }
    return MP_OBJ_FROM_PTR(x);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(view_obj, 6, 6, view);

// array([floats])
static mp_obj_t array(mp_obj_t list) {
    size_t n;
    mp_obj_t *items;
    const char code = sizeof(mp_float_t) == 8 ? 'd' : 'f';
    mp_obj_get_array(list, &n, &items);
    ndarray_obj_t *x = blank(code, false, 1, MP_OBJ_NULL, m_malloc(n * sizeof(mp_float_t)));
    axis(x, 0, n, sizeof(mp_float_t));
    for (size_t i = 0; i < n; ++i) {
        mp_binary_set_val_array(code, x->array, i, items[i]);
    }
    return MP_OBJ_FROM_PTR(x);
}
static MP_DEFINE_CONST_FUN_OBJ_1(array_obj, array);

static mp_obj_t item(ndarray_obj_t *x, size_t i) {
    uint8_t *at = (uint8_t *)x->array + (int32_t)i * x->strides[first(x)];
    if (x->ndim == 1) {
        mp_obj_t v = mp_binary_get_val_array(x->dtype, at, 0);
        return x->boolean ? mp_obj_new_bool(v != MP_OBJ_NEW_SMALL_INT(0)) : v;
    }
    ndarray_obj_t *row = blank(x->dtype, x->boolean, x->ndim - 1, x->owner, at);
    for (size_t i = 0; i < row->ndim; ++i) {
        axis(row, i, x->shape[first(row) + i], x->strides[first(row) + i]);
    }
    return MP_OBJ_FROM_PTR(row);
}

static mp_obj_t subscript(mp_obj_t self, mp_obj_t index, mp_obj_t value) {
    ndarray_obj_t *x = MP_OBJ_TO_PTR(self);
    size_t length = x->shape[first(x)];
    int32_t stride = x->strides[first(x)];
    if (mp_obj_is_type(index, &mp_type_slice)) {
        mp_bound_slice_t bound;
        mp_obj_slice_indices(index, length, &bound);
        ndarray_obj_t *part = blank(x->dtype, x->boolean, 1, x->owner, (uint8_t *)x->array + bound.start * stride);
        axis(part, 0, bound.stop - bound.start, stride);
        return MP_OBJ_FROM_PTR(part);
    }
    size_t i = mp_get_index(x->base.type, length, index, false);
    if (value == MP_OBJ_SENTINEL) {
        return item(x, i);
    }
    mp_binary_set_val_array(x->dtype, (uint8_t *)x->array + (int32_t)i * stride, 0, value);
    return mp_const_none;
}

typedef struct {
    mp_obj_base_t base;
    mp_fun_1_t iternext;
    mp_obj_t x;
    size_t i;
} iterator_t;

static mp_obj_t next(mp_obj_t self) {
    iterator_t *it = MP_OBJ_TO_PTR(self);
    ndarray_obj_t *x = MP_OBJ_TO_PTR(it->x);
    return it->i < x->shape[first(x)] ? item(x, it->i++) : MP_OBJ_STOP_ITERATION;
}

static mp_obj_t iterate(mp_obj_t self, mp_obj_iter_buf_t *buf) {
    iterator_t *it = (iterator_t *)buf;
    *it = (iterator_t) { { &mp_type_polymorph_iter }, next, self, 0 };
    return MP_OBJ_FROM_PTR(it);
}

static mp_int_t buffer(mp_obj_t self, mp_buffer_info_t *info, mp_uint_t flags) {
    (void)flags;
    ndarray_obj_t *x = MP_OBJ_TO_PTR(self);
    if (x->len * x->itemsize != x->shape[first(x)] * (size_t)x->strides[first(x)]) {
        return 1;
    }
    info->buf = x->array;
    info->len = x->len * x->itemsize;
    info->typecode = x->dtype;
    return 0;
}

static mp_obj_t sides(const ndarray_obj_t *x, bool strides) {
    mp_obj_t items[ULAB_MAX_DIMS];
    for (size_t i = 0; i < x->ndim; ++i) {
        size_t at = first(x) + i;
        items[i] = mp_obj_new_int(strides ? x->strides[at] : (mp_int_t)x->shape[at]);
    }
    return mp_obj_new_tuple(x->ndim, items);
}

static void attribute(mp_obj_t self, qstr name, mp_obj_t *result) {
    ndarray_obj_t *x = MP_OBJ_TO_PTR(self);
    if (result[0] != MP_OBJ_NULL) {
        return;
    }
    if (name == MP_QSTR_dtype) {
        result[0] = MP_OBJ_NEW_SMALL_INT(x->dtype);
    } else if (name == MP_QSTR_itemsize) {
        result[0] = MP_OBJ_NEW_SMALL_INT(x->itemsize);
    } else if (name == MP_QSTR_shape || name == MP_QSTR_strides) {
        result[0] = sides(x, name == MP_QSTR_strides);
    }
}

static mp_obj_t unary(mp_unary_op_t op, mp_obj_t self) {
    ndarray_obj_t *x = MP_OBJ_TO_PTR(self);
    return op == MP_UNARY_OP_LEN ? MP_OBJ_NEW_SMALL_INT(x->shape[first(x)]) : MP_OBJ_NULL;
}

MP_DEFINE_CONST_OBJ_TYPE(
    ulab_ndarray_type, MP_QSTR_ndarray, MP_TYPE_FLAG_ITER_IS_GETITER,
    subscr, subscript, iter, iterate, attr, attribute, buffer, buffer, unary_op, unary
    );

static const mp_rom_map_elem_t numpy_table[] = {
    { MP_ROM_QSTR(MP_QSTR_view), MP_ROM_PTR(&view_obj) },
    { MP_ROM_QSTR(MP_QSTR_array), MP_ROM_PTR(&array_obj) },
};
static MP_DEFINE_CONST_DICT(numpy_globals, numpy_table);
static const mp_obj_module_t numpy_module = { { &mp_type_module }, (mp_obj_dict_t *)&numpy_globals };

static const mp_rom_map_elem_t ulab_table[] = {
    { MP_ROM_QSTR(MP_QSTR_numpy), MP_ROM_PTR(&numpy_module) },
};
static MP_DEFINE_CONST_DICT(ulab_globals, ulab_table);
const mp_obj_module_t ulab_double_module = { { &mp_type_module }, (mp_obj_dict_t *)&ulab_globals };
MP_REGISTER_MODULE(MP_QSTR_ulab, ulab_double_module);
