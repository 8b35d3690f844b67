// What a native module lends to a second one beside it, so that no code is in RAM twice.
#ifndef MZ_SHARED_H
#define MZ_SHARED_H

#include "entry.h"

typedef struct {
    int32_t (*need)(const mz_arg_t *arg, int64_t bytes, int32_t width);
    int32_t (*net_from)(mz_net_t *net, const mz_arg_t *plan, const mz_arg_t *blob, const mz_arg_t *state,
        const mz_arg_t *arena);
    int32_t (*layer_at)(const mz_net_t *net, int32_t index, mz_layer_t *layer);
    // The shell's: parses objects of MicroPython, calls an entry and raises.
    void *(*run)(const char *signature, mz_entry_t entry, void *const *objects);
} mz_shared_t;

// Tells modules of other builds apart: their operators have other sizes.
#define MZ_SHARED_MARK (0x6d7a0000u + (uint32_t)(sizeof(mz_net_t) << 12) + (uint32_t)sizeof(mz_layer_t))

// In the second module, set before its first call.
extern const mz_shared_t *mz_shared;

#endif
