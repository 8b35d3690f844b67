// Shell for MicroPython: a natmod (MICROPY_ENABLE_DYNRUNTIME) or a user module, from
// the one table in kernels/api.h. All parsing and raising is here.
#if MICROPY_ENABLE_DYNRUNTIME
#include "py/dynruntime.h"
#else
#include "py/obj.h"
#include "py/runtime.h"
#endif

#include "kernels/shared.h"

// ulab's micropython.mk and .cmake define this: its arrays are known where both are built in.
#if MODULE_ULAB_ENABLED && !MICROPY_ENABLE_DYNRUNTIME
#define MZ_WITH_ULAB 1
#endif

// The entries of this module: all, or those of one of two native modules.
#if defined(MZ_PART_CORE)
#define ENTRIES MZ_API_CORE
#elif defined(MZ_PART_GRADIENT)
#define ENTRIES MZ_API_GRADIENT
#else
#define ENTRIES MZ_API
#endif

#if defined(MZ_PART_CORE) || defined(MZ_PART_GRADIENT)
// A function of the first module, behind which the second finds what it borrows.
typedef struct {
    mp_obj_fun_builtin_var_t function;
    uint32_t mark;
    const mz_shared_t *shared;
} lender_t;
#endif

#if !defined(MZ_PART_GRADIENT)

// A bare string, not MP_ERROR_TEXT: the kernels do not know MicroPython's compression.
static void raise_status(int32_t status) {
    #if MICROPY_ENABLE_DYNRUNTIME
    const char *text = mz_status_text(status);
    #else
    mp_rom_error_text_t text = (mp_rom_error_text_t)mz_status_text(status);
    #endif
    if (status == MZ_E_TYPE) {
        mp_raise_TypeError(text);
    }
    mp_raise_ValueError(text);
}

// Bytes of an item of an integer buffer, 0 for anything else.
static int32_t item_width(int typecode) {
    switch (typecode) {
        case 1: // bytearray
        case 'b':
        case 'B':
            return 1;
        case 'h':
        case 'H':
            return 2;
        case 'i':
        case 'I':
            return sizeof(int);
        case 'l':
        case 'L':
            return sizeof(long);
        case 'q':
        case 'Q':
            return 8;
        default:
            return 0;
    }
}

static void collect_int(mp_obj_t object, mz_arg_t *arg) {
    mp_int_t v;
    if (mp_obj_is_small_int(object)) {
        v = MP_OBJ_SMALL_INT_VALUE(object);
    } else {
        // A natmod has only the truncating conversion, so the result is compared.
        v = (mp_int_t)mp_obj_get_int_truncated(object);
        if (mp_binary_op(MP_BINARY_OP_EQUAL, mp_obj_new_int(v), object) != mp_const_true) {
            raise_status(MZ_E_RANGE);
        }
    }
    if (v > INT32_MAX || v < -INT32_MAX) {
        raise_status(MZ_E_RANGE);
    }
    arg->data = NULL;
    arg->n = (int32_t)v;
    arg->width = 0;
}

#if MZ_WITH_ULAB
#include "ulab_arrays.h"
#endif

static void collect_buffer(mp_obj_t object, mp_uint_t access, mz_arg_t *arg) {
    #if MZ_WITH_ULAB
    if (mp_obj_is_type(object, &ulab_ndarray_type)) {
        collect_array(object, arg);
        return;
    }
    #endif
    mp_buffer_info_t info;
    mp_get_buffer_raise(object, &info, access);
    arg->data = info.buf;
    arg->n = (int32_t)info.len;
    arg->width = item_width(info.typecode);
    if (arg->width == 0) {
        raise_status(MZ_E_TYPE);
    }
    if (info.len > INT32_MAX) {
        raise_status(MZ_E_LENGTH);
    }
}

static mp_obj_t run(const char *signature, mz_entry_t entry, const mp_obj_t *objects) {
    mz_arg_t args[MZ_MAX_ARGS];
    for (int32_t i = 0; signature[i]; ++i) {
        switch (signature[i]) {
            case 'i':
                collect_int(objects[i], &args[i]);
                break;
            case 'w':
                collect_buffer(objects[i], MP_BUFFER_RW, &args[i]);
                break;
            default:
                collect_buffer(objects[i], MP_BUFFER_READ, &args[i]);
                break;
        }
    }
    int32_t result = mz_invoke(signature, entry, args);
    if (result < 0) {
        raise_status(result);
    }
    return MP_OBJ_NEW_SMALL_INT(result);
}

#endif

#define INDEX(name, signature, function) INDEX_##name,
enum { ENTRIES(INDEX) };

#define ROW(name, signature, function) { signature, function },
static const struct {
    const char *signature;
    mz_entry_t entry;
} api[] = { ENTRIES(ROW) };

// Arguments in the order of DEFINE's functions: those are but a jump with an index.
static mp_obj_t call(size_t n_args, const mp_obj_t *objects, int32_t index) {
    (void)n_args;
    #if MZ_WITH_ULAB
    if (index == INDEX_input && mp_obj_is_type(objects[3], &ulab_ndarray_type)) {
        input_array(objects);
        return MP_OBJ_NEW_SMALL_INT(MZ_OK);
    }
    #endif
    #if defined(MZ_PART_GRADIENT)
    return mz_shared->run(api[index].signature, api[index].entry, objects);
    #else
    return run(api[index].signature, api[index].entry, objects);
    #endif
}

#define DEFINE(name, signature, function) \
    static mp_obj_t microzo_##name(size_t n_args, const mp_obj_t *args) { \
        return call(n_args, args, INDEX_##name); \
    } \
    static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(microzo_##name##_obj, sizeof(signature) - 1, \
    sizeof(signature) - 1, microzo_##name);
ENTRIES(DEFINE)

#if MZ_WITH_ULAB
// predict(plan, blob, state, arena, x) -> class: what input and forward do, of an array where it lies.
static mp_obj_t microzo_predict(size_t n_args, const mp_obj_t *args) {
    (void)n_args;
    const mp_obj_t input[] = { args[0], args[1], args[3], args[4] };
    microzo_input(4, input);
    const mp_obj_t zero = MP_OBJ_NEW_SMALL_INT(0);
    mz_arg_t plan;
    collect_buffer(args[0], MP_BUFFER_READ, &plan);
    const mp_obj_t forward[] = {
        args[0], args[1], args[2], args[3], zero, MP_OBJ_NEW_SMALL_INT(mz_ints(&plan)[MZ_H_N_OPS]), zero,
    };
    return microzo_forward(7, forward);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(microzo_predict_obj, 5, 5, microzo_predict);
#endif

#if MICROPY_ENABLE_DYNRUNTIME

#define STORE(name, signature, function) \
    mp_store_global(MP_QSTR_##name, MP_OBJ_FROM_PTR(&microzo_##name##_obj));

#if defined(MZ_PART_CORE)

static const mz_shared_t shared = { mz_need, mz_net_from, mz_layer_at, run };
static const lender_t lender = {
    { { &mp_type_fun_builtin_var }, MP_OBJ_FUN_MAKE_SIG(0, 0, false), { microzo_version } }, MZ_SHARED_MARK,
    &shared,
};

#elif defined(MZ_PART_GRADIENT)

static void borrow(void) {
    mp_obj_t core = mp_import_name(MP_QSTR__microzo, mp_const_none, MP_OBJ_NEW_SMALL_INT(0));
    mp_obj_t version = mp_load_attr(core, MP_QSTR_version);
    const lender_t *lender = MP_OBJ_TO_PTR(version);
    if (mp_obj_get_type(version) != &mp_type_fun_builtin_var || lender->mark != MZ_SHARED_MARK) {
        mp_raise_ValueError("_microzo_grad.mpy belongs to another _microzo.mpy: push both");
    }
    mz_shared = lender->shared;
}

#endif

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t n_args, size_t n_kw, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    #if defined(MZ_PART_GRADIENT)
    borrow();
    #endif
    ENTRIES(STORE)
    #if defined(MZ_PART_CORE)
    mp_store_global(MP_QSTR_version, MP_OBJ_FROM_PTR(&lender));
    #endif
    MP_DYNRUNTIME_INIT_EXIT
}

#else

#define ENTRY(name, signature, function) \
    { MP_ROM_QSTR(MP_QSTR_##name), MP_ROM_PTR(&microzo_##name##_obj) },

static const mp_rom_map_elem_t microzo_globals_table[] = {
    { MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__microzo) },
    ENTRIES(ENTRY)
    #if MZ_WITH_ULAB
    ENTRY(predict, , )
    #endif
};
static MP_DEFINE_CONST_DICT(microzo_globals, microzo_globals_table);

const mp_obj_module_t microzo_module = {
    .base = { &mp_type_module },
    .globals = (mp_obj_dict_t *)&microzo_globals,
};

MP_REGISTER_MODULE(MP_QSTR__microzo, microzo_module);

#endif
