// The ROMFS segment: memory that files are mapped from, without a copy.
#include <string.h>

#include "board.h"

#include "py/mperrno.h"
#include "py/objarray.h"
#include "py/runtime.h"
#include "extmod/vfs.h"

static const MP_DEFINE_MEMORYVIEW_OBJ(segment, 'B', 0, BOARD_ROMFS_BYTES, (void *)BOARD_ROMFS_BASE);

static mp_obj_t segment_write(mp_int_t offset, mp_obj_t data) {
    mp_buffer_info_t buf;
    mp_get_buffer_raise(data, &buf, MP_BUFFER_READ);
    if (offset < 0 || offset > BOARD_ROMFS_BYTES || buf.len > BOARD_ROMFS_BYTES - (size_t)offset) {
        return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
    }
    memcpy((uint8_t *)BOARD_ROMFS_BASE + offset, buf.buf, buf.len);
    return MP_OBJ_NEW_SMALL_INT(0);
}

mp_obj_t mp_vfs_rom_ioctl(size_t n_args, const mp_obj_t *args) {
    mp_int_t request = mp_obj_get_int(args[0]);
    if (request == MP_VFS_ROM_IOCTL_GET_NUMBER_OF_SEGMENTS) {
        return MP_OBJ_NEW_SMALL_INT(1);
    }
    if (n_args < 2 || mp_obj_get_int(args[1]) != 0) {
        return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
    }
    switch (request) {
        case MP_VFS_ROM_IOCTL_GET_SEGMENT:
            return MP_OBJ_FROM_PTR(&segment);
        case MP_VFS_ROM_IOCTL_WRITE_PREPARE: {
            // Answers the smallest write, once the length is known to fit.
            bool fits = n_args == 3 && (size_t)mp_obj_get_int(args[2]) <= BOARD_ROMFS_BYTES;
            return MP_OBJ_NEW_SMALL_INT(fits ? 4 : -MP_EINVAL);
        }
        case MP_VFS_ROM_IOCTL_WRITE:
            return n_args == 4 ? segment_write(mp_obj_get_int(args[2]), args[3])
                : MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
        case MP_VFS_ROM_IOCTL_WRITE_COMPLETE:
            return MP_OBJ_NEW_SMALL_INT(0);
        default:
            return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
    }
}
