// board.disk: a block device over memory that QEMU keeps in a host file, so that
// its content outlives a killed emulator as flash outlives a power cut.
#include <string.h>

#include "board.h"

#include "py/mperrno.h"
#include "py/runtime.h"
#include "extmod/vfs.h"

#define BLOCK_BYTES (4096)
#define BLOCKS (BOARD_DISK_BYTES / BLOCK_BYTES)

// Returns the memory behind a request, or raises if it leaves the disk.
static uint8_t *disk_at(const mp_obj_t *args, size_t n_args, size_t len) {
    mp_int_t block = mp_obj_get_int(args[1]);
    mp_int_t offset = n_args > 3 ? mp_obj_get_int(args[3]) : 0;
    if (block < 0 || block >= BLOCKS || offset < 0 || offset > BOARD_DISK_BYTES
        || (size_t)block * BLOCK_BYTES + offset + len > BOARD_DISK_BYTES) {
        mp_raise_OSError(MP_EINVAL);
    }
    return (uint8_t *)BOARD_DISK_BASE + block * BLOCK_BYTES + offset;
}

static mp_obj_t disk_readblocks(size_t n_args, const mp_obj_t *args) {
    mp_buffer_info_t buf;
    mp_get_buffer_raise(args[2], &buf, MP_BUFFER_WRITE);
    memcpy(buf.buf, disk_at(args, n_args, buf.len), buf.len);
    return MP_OBJ_NEW_SMALL_INT(0);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(disk_readblocks_obj, 3, 4, disk_readblocks);

static mp_obj_t disk_writeblocks(size_t n_args, const mp_obj_t *args) {
    mp_buffer_info_t buf;
    mp_get_buffer_raise(args[2], &buf, MP_BUFFER_READ);
    uint8_t *to = disk_at(args, n_args, buf.len);
    if (n_args == 3) {
        // The simple interface has no erase of its own.
        memset(to, 0xff, buf.len);
    }
    memcpy(to, buf.buf, buf.len);
    return MP_OBJ_NEW_SMALL_INT(0);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(disk_writeblocks_obj, 3, 4, disk_writeblocks);

static mp_obj_t disk_ioctl(mp_obj_t self, mp_obj_t request, mp_obj_t arg) {
    switch (mp_obj_get_int(request)) {
        case MP_BLOCKDEV_IOCTL_BLOCK_COUNT:
            return MP_OBJ_NEW_SMALL_INT(BLOCKS);
        case MP_BLOCKDEV_IOCTL_BLOCK_SIZE:
            return MP_OBJ_NEW_SMALL_INT(BLOCK_BYTES);
        case MP_BLOCKDEV_IOCTL_BLOCK_ERASE: {
            mp_obj_t args[] = {self, arg};
            memset(disk_at(args, 2, BLOCK_BYTES), 0xff, BLOCK_BYTES);
            return MP_OBJ_NEW_SMALL_INT(0);
        }
        case MP_BLOCKDEV_IOCTL_INIT:
        case MP_BLOCKDEV_IOCTL_DEINIT:
        case MP_BLOCKDEV_IOCTL_SYNC:
            return MP_OBJ_NEW_SMALL_INT(0);
        default:
            return mp_const_none;
    }
}
static MP_DEFINE_CONST_FUN_OBJ_3(disk_ioctl_obj, disk_ioctl);

static const mp_rom_map_elem_t disk_locals_table[] = {
    { MP_ROM_QSTR(MP_QSTR_readblocks), MP_ROM_PTR(&disk_readblocks_obj) },
    { MP_ROM_QSTR(MP_QSTR_writeblocks), MP_ROM_PTR(&disk_writeblocks_obj) },
    { MP_ROM_QSTR(MP_QSTR_ioctl), MP_ROM_PTR(&disk_ioctl_obj) },
};
static MP_DEFINE_CONST_DICT(disk_locals, disk_locals_table);

static MP_DEFINE_CONST_OBJ_TYPE(disk_type, MP_QSTR_Disk, MP_TYPE_FLAG_NONE,
    locals_dict, &disk_locals);

const mp_obj_base_t board_disk = {&disk_type};
