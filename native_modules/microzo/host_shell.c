// Shell for CPython, called through ctypes.PyDLL: collects the arguments in C, so
// that a call costs a microsecond. The few names of Python's stable ABI that it
// needs are declared here and found in the running interpreter.
#include <string.h>

#include "host_kernels.h"

#define EXPORT __attribute__((visibility("default")))
#define FROM_PYTHON __attribute__((weak))

typedef struct {
    void *buf;
    void *obj;
    ptrdiff_t len;
    ptrdiff_t itemsize;
    int readonly;
    int ndim;
    char *format;
    ptrdiff_t *shape;
    ptrdiff_t *strides;
    ptrdiff_t *suboffsets;
    void *internal;
} buffer_t;

enum {
    BUFFER_WRITABLE = 0x1,
    BUFFER_FORMAT = 0x4,
    BUFFER_C_CONTIGUOUS = 0x38,
};

FROM_PYTHON extern int PyObject_GetBuffer(void *object, buffer_t *view, int flags);
FROM_PYTHON extern void PyBuffer_Release(buffer_t *view);
FROM_PYTHON extern ptrdiff_t PyTuple_Size(void *tuple);
FROM_PYTHON extern void *PyTuple_GetItem(void *tuple, ptrdiff_t index);
FROM_PYTHON extern void *PyNumber_Index(void *object);
FROM_PYTHON extern long long PyLong_AsLongLong(void *object);
FROM_PYTHON extern void Py_DecRef(void *object);
FROM_PYTHON extern void *PyErr_Occurred(void);
FROM_PYTHON extern void PyErr_Clear(void);
FROM_PYTHON extern void PyErr_SetString(void *type, const char *text);
FROM_PYTHON extern void *PyExc_TypeError;
FROM_PYTHON extern void *PyExc_ValueError;

extern const kernels_t mz_kernels_base;
static const kernels_t *kernels = &mz_kernels_base;

// Takes the variant with vectors, or the one without; returns whether it has them. All variants give
// the same bits.
EXPORT int microzo_vectors(int on) {
#if MZ_WITH_AVX2
    extern const kernels_t mz_kernels_avx2;
    if (on && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
        kernels = &mz_kernels_avx2;
        return 1;
    }
#endif
    (void)on;
    kernels = &mz_kernels_base;
    return 0;
}

EXPORT const char *microzo_name(int index) {
    return index >= 0 && index < kernels->n ? kernels->rows[index].name : NULL;
}

EXPORT const char *microzo_signature(int index) {
    return index >= 0 && index < kernels->n ? kernels->rows[index].signature : NULL;
}

EXPORT const char *microzo_status_text(int status) {
    return kernels->status_text(status);
}

static int type_error(const char *text) {
    PyErr_Clear();
    PyErr_SetString(PyExc_TypeError, text);
    return -1;
}

static int collect_int(void *object, mz_arg_t *arg) {
    void *number = PyNumber_Index(object);
    if (number == NULL) {
        return type_error("integer expected");
    }
    long long v = PyLong_AsLongLong(number);
    Py_DecRef(number);
    if (PyErr_Occurred() || v > INT32_MAX || v < -INT32_MAX) {
        PyErr_Clear();
        PyErr_SetString(PyExc_ValueError, kernels->status_text(MZ_E_RANGE));
        return -1;
    }
    arg->data = NULL;
    arg->n = (int32_t)v;
    arg->width = 0;
    return 0;
}

// Integers of any size; no floats, no objects.
static int integer_format(const char *format) {
    if (format == NULL) {
        return 1;
    }
    size_t n = strlen(format);
    return n && n <= 2 && strchr("bBchHiIlLqQnN?", format[n - 1]) != NULL;
}

static int collect_buffer(void *object, int writable, buffer_t *view, mz_arg_t *arg) {
    int flags = BUFFER_C_CONTIGUOUS | BUFFER_FORMAT | (writable ? BUFFER_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) != 0) {
        return type_error(writable ? "writable contiguous buffer expected"
            : "contiguous buffer expected");
    }
    int status = 0;
    if (!integer_format(view->format)) {
        status = type_error("buffer of integers expected");
    } else if (view->len > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, kernels->status_text(MZ_E_LENGTH));
        status = -1;
    }
    if (status != 0) {
        PyBuffer_Release(view);
        return -1;
    }
    arg->data = view->buf;
    arg->n = (int32_t)view->len;
    arg->width = (int32_t)view->itemsize;
    return 0;
}

// The result, or -1 with a Python exception set.
EXPORT int microzo_call(int index, void *tuple) {
    const row_t *row = &kernels->rows[index];
    mz_arg_t args[MZ_MAX_ARGS];
    buffer_t views[MZ_MAX_ARGS];
    int n = (int)strlen(row->signature);
    int done = 0;
    int result = -1;
    if (PyTuple_Size(tuple) != n) {
        return type_error("wrong number of arguments");
    }
    for (; done < n; ++done) {
        void *object = PyTuple_GetItem(tuple, done);
        char kind = row->signature[done];
        int status = kind == 'i' ? collect_int(object, &args[done])
            : collect_buffer(object, kind == 'w', &views[done], &args[done]);
        if (status != 0) {
            break;
        }
    }
    if (done == n) {
        result = kernels->invoke(row->signature, row->function, args);
    }
    for (int i = 0; i < done; ++i) {
        if (row->signature[i] != 'i') {
            PyBuffer_Release(&views[i]);
        }
    }
    if (done == n && result < 0) {
        void *type = result == MZ_E_TYPE ? PyExc_TypeError : PyExc_ValueError;
        PyErr_SetString(type, kernels->status_text(result));
    }
    return result;
}
