// The module `board`: the disk, and how much RAM there is and was used.
#include "memory.h"

#include "py/runtime.h"

extern const mp_obj_base_t board_disk;

static size_t bytes_between(const uint32_t *from, const uint32_t *to) {
    return (const char *)to - (const char *)from;
}

// Deepest use of the stack since the start: what is no longer painted.
static size_t stack_used(void) {
    const uint32_t *p = &_sstack;
    while (p < &_estack && *p == STACK_PAINT) {
        ++p;
    }
    return bytes_between(p, &_estack);
}

// ram() -> (all RAM, data and bss, deepest stack use, heap), in bytes.
static mp_obj_t board_ram(void) {
    mp_obj_t items[] = {
        MP_OBJ_NEW_SMALL_INT(bytes_between(&_ram_start, &_estack)),
        MP_OBJ_NEW_SMALL_INT(bytes_between(&_ram_start, &_ebss)),
        MP_OBJ_NEW_SMALL_INT(stack_used()),
        MP_OBJ_NEW_SMALL_INT(bytes_between(&_heap_start, &_heap_end)),
    };
    return mp_obj_new_tuple(MP_ARRAY_SIZE(items), items);
}
static MP_DEFINE_CONST_FUN_OBJ_0(board_ram_obj, board_ram);

static const mp_rom_map_elem_t board_globals_table[] = {
    { MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR_board) },
    { MP_ROM_QSTR(MP_QSTR_disk), MP_ROM_PTR(&board_disk) },
    { MP_ROM_QSTR(MP_QSTR_ram), MP_ROM_PTR(&board_ram_obj) },
};
static MP_DEFINE_CONST_DICT(board_globals, board_globals_table);

const mp_obj_module_t board_module = {
    .base = { &mp_type_module },
    .globals = (mp_obj_dict_t *)&board_globals,
};
MP_REGISTER_MODULE(MP_QSTR_board, board_module);
