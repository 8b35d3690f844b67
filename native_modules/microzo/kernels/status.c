#include "status.h"

const char *mz_status_text(int32_t status) {
    switch (status) {
        case MZ_E_TYPE:
            return "buffer has items of the wrong size";
        case MZ_E_OVERLAP:
            return "a writable buffer overlaps another buffer";
        case MZ_E_LENGTH:
            return "buffer has the wrong length";
        case MZ_E_ALIGN:
            return "buffer is not aligned to its items";
        case MZ_E_RANGE:
            return "integer argument out of range";
        case MZ_E_VALUE:
            return "value in a buffer out of range";
        case MZ_E_PLAN:
            return "not a plan of spec version 1";
        case MZ_E_KIND:
            return "plan: unknown operator or flag";
        case MZ_E_SHAPE:
            return "plan: shapes do not fit";
        case MZ_E_QUANT:
            return "plan: quantization out of range";
        case MZ_E_OVERFLOW:
            return "plan: an accumulator could overflow";
        case MZ_E_OFFSET:
            return "plan: an offset leaves its buffer";
        case MZ_E_SCRATCH:
            return "plan: scratch too small or not free";
        case MZ_E_LOGITS:
            return "plan: logits do not fit";
        case MZ_E_OP_KIND:
            return "operator is not of the needed kind";
        case MZ_E_FROZEN:
            return "operator has no such trainable values";
        case MZ_E_NO_STATS:
            return "operator has no clean statistics";
        default:
            return "microzo error";
    }
}
