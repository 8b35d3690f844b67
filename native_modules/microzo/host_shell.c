// Shell for CPython: an extension module for its stable ABI, so that one file serves every
// Python from 3.11 on. Its functions are those of kernels/api.h; SIGNATURES tells their arguments.
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <string.h>

#include "host_kernels.h"

#define DOC_BYTES (256)

// Numbers of the rows, which all variants of the kernels share.
enum {
#define NUMBER(name, signature, function) ROW_##name,
    MZ_API(NUMBER)
#undef NUMBER
    ROWS
};

extern const kernels_t mz_kernels_base;
static const kernels_t *kernels = &mz_kernels_base;

// Takes the variant with vectors, or the one without; returns whether it has them. All variants give
// the same bits.
static int take_vectors(int on) {
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

static int type_error(const char *text) {
    PyErr_Clear();
    PyErr_SetString(PyExc_TypeError, text);
    return -1;
}

static int value_error(int status) {
    PyErr_Clear();
    PyErr_SetString(PyExc_ValueError, kernels->status_text(status));
    return -1;
}

static int collect_int(PyObject *object, mz_arg_t *arg) {
    PyObject *number = PyNumber_Index(object);
    if (number == NULL) {
        return type_error("integer expected");
    }
    long long v = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (PyErr_Occurred() || v > INT32_MAX || v < -INT32_MAX) {
        return value_error(MZ_E_RANGE);
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

static int collect_buffer(PyObject *object, int writable, Py_buffer *view, mz_arg_t *arg) {
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) != 0) {
        return type_error(writable ? "writable contiguous buffer expected"
            : "contiguous buffer expected");
    }
    int status = 0;
    if (!integer_format(view->format)) {
        status = type_error("buffer of integers expected");
    } else if (view->len > INT32_MAX) {
        status = value_error(MZ_E_LENGTH);
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

// What every function of the module does.
static PyObject *call(int number, PyObject *const *objects, Py_ssize_t count) {
    const row_t *row = &kernels->rows[number];
    mz_arg_t args[MZ_MAX_ARGS] = {0};
    Py_buffer views[MZ_MAX_ARGS];
    int n = (int)strlen(row->signature);
    int done = 0;
    int result = -1;
    if (count != n) {
        type_error("wrong number of arguments");
        return NULL;
    }
    for (; done < n; ++done) {
        char kind = row->signature[done];
        int status = kind == 'i' ? collect_int(objects[done], &args[done])
            : collect_buffer(objects[done], kind == 'w', &views[done], &args[done]);
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
    if (done < n) {
        return NULL;
    }
    if (result < 0) {
        PyErr_SetString(result == MZ_E_TYPE ? PyExc_TypeError : PyExc_ValueError,
            kernels->status_text(result));
        return NULL;
    }
    return PyLong_FromLong(result);
}

static PyObject *vectors(PyObject *self, PyObject *on) {
    (void)self;
    int wanted = PyObject_IsTrue(on);
    return wanted < 0 ? NULL : PyBool_FromLong(take_vectors(wanted));
}

// "name(buffer, writable buffer, int) -> int"
static const char *describe(const row_t *row, char *doc) {
    int at = PyOS_snprintf(doc, DOC_BYTES, "%s(", row->name);
    for (const char *kind = row->signature; *kind; ++kind) {
        const char *word = *kind == 'i' ? "int" : *kind == 'w' ? "writable buffer" : "buffer";
        at += PyOS_snprintf(doc + at, DOC_BYTES - at, "%s%s", kind == row->signature ? "" : ", ", word);
    }
    PyOS_snprintf(doc + at, DOC_BYTES - at, ") -> int");
    return doc;
}

static int add(PyObject *module, const char *name, PyObject *object) {
    int status = object == NULL ? -1 : PyModule_AddObjectRef(module, name, object);
    Py_XDECREF(object);
    return status;
}

#define FUNCTION(name, signature, function) \
    static PyObject *call_##name(PyObject *module, PyObject *const *objects, Py_ssize_t count) { \
        (void)module; \
        return call(ROW_##name, objects, count); \
    }
MZ_API(FUNCTION)
#undef FUNCTION

// The stable ABI has one type for all functions; METH_FASTCALL says which these are.
static PyMethodDef methods[] = {
#define METHOD(name, signature, function) \
    {#name, (PyCFunction)(void (*)(void))call_##name, METH_FASTCALL, NULL},
    MZ_API(METHOD)
#undef METHOD
};

// `self` of a function is the module, so that pickle finds it by its name.
static int add_function(PyObject *module, PyObject *signatures, int number) {
    static char docs[ROWS][DOC_BYTES];
    const row_t *row = &kernels->rows[number];
    methods[number].ml_doc = describe(row, docs[number]);
    PyObject *home = PyUnicode_FromString("microzo_host.native"); // which publishes them
    PyObject *text = PyUnicode_FromString(row->signature);
    int status = -1;
    if (home != NULL && text != NULL && PyDict_SetItemString(signatures, row->name, text) == 0) {
        status = add(module, row->name, PyCFunction_NewEx(&methods[number], module, home));
    }
    Py_XDECREF(home);
    Py_XDECREF(text);
    return status;
}

static int fill(PyObject *module) {
    static PyMethodDef vectors_method = {"vectors", vectors, METH_O,
        "vectors(on): takes the kernels with vectors if the processor has them, or those without; "
        "the bits are the same. True if they have."};
    take_vectors(1);
    PyObject *signatures = PyDict_New();
    if (signatures == NULL) {
        return -1;
    }
    int status = 0;
    for (int i = 0; i < ROWS && status == 0; ++i) {
        status = add_function(module, signatures, i);
    }
    if (status == 0) {
        status = PyModule_AddObjectRef(module, "SIGNATURES", signatures);
    }
    Py_DECREF(signatures);
    return status == 0 ? add(module, "vectors", PyCFunction_NewEx(&vectors_method, NULL, NULL)) : status;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "microzo_host._native",
    .m_doc = "The C kernels of microzo.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__native(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && fill(module) != 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
