// The kernels of one variant of the host library, as the shell sees them.
#ifndef HOST_KERNELS_H
#define HOST_KERNELS_H

#include "api.h"

typedef struct {
    const char *name;
    const char *signature;
    mz_entry_t function;
} row_t;

typedef struct {
    const row_t *rows;
    int n;
    int32_t (*invoke)(const char *signature, mz_entry_t entry, const mz_arg_t *args);
    const char *(*status_text)(int32_t status);
} kernels_t;

#endif
