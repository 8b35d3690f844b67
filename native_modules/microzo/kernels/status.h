// Results of entry functions: >= 0 is a value, < 0 one of these.
#ifndef MZ_STATUS_H
#define MZ_STATUS_H

#include <stdint.h>

enum {
    MZ_OK = 0,
    MZ_E_TYPE = -1,
    MZ_E_OVERLAP = -2,
    MZ_E_LENGTH = -3,
    MZ_E_ALIGN = -4,
    MZ_E_RANGE = -5,
    MZ_E_VALUE = -6,
    MZ_E_PLAN = -7,
    MZ_E_KIND = -8,
    MZ_E_SHAPE = -9,
    MZ_E_QUANT = -10,
    MZ_E_OVERFLOW = -11,
    MZ_E_OFFSET = -12,
    MZ_E_SCRATCH = -13,
    MZ_E_LOGITS = -14,
    MZ_E_OP_KIND = -15,
    MZ_E_FROZEN = -16,
    MZ_E_NO_STATS = -17,
};

// The one text of each status. MZ_E_TYPE is a TypeError, the others ValueErrors.
const char *mz_status_text(int32_t status);

#define MZ_TRY(expression) \
    do { \
        int32_t try_status = (expression); \
        if (try_status < 0) { \
            return try_status; \
        } \
    } while (0)

#endif
