#include "host_kernels.h"

static const row_t rows[] = {
#define ROW(name, signature, function) {#name, signature, function},
    MZ_API(ROW)
#undef ROW
};

extern const kernels_t MZ_HOST_KERNELS;
__attribute__((visibility("default"))) const kernels_t MZ_HOST_KERNELS = {
    rows, sizeof(rows) / sizeof(rows[0]), mz_invoke, mz_status_text,
};
