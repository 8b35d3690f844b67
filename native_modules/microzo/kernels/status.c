#include "status.h"

// From -1 on; one string, because each address would take code.
static const char texts[] =
    "buffer has items of the wrong size\0"
    "a writable buffer overlaps another buffer\0"
    "buffer has the wrong length\0"
    "buffer is not aligned to its items\0"
    "integer argument out of range\0"
    "value in a buffer out of range\0"
    "not a plan of spec version 1\0"
    "plan: unknown operator or flag\0"
    "plan: shapes do not fit\0"
    "plan: quantization out of range\0"
    "plan: an accumulator could overflow\0"
    "plan: an offset leaves its buffer\0"
    "plan: scratch too small or not free\0"
    "plan: logits do not fit\0"
    "operator is not of the needed kind\0"
    "operator has no such trainable values\0"
    "operator has no clean statistics\0"
    "microzo error";

const char *mz_status_text(int32_t status) {
    const char *text = texts;
    for (int32_t left = status < MZ_E_NO_STATS || status >= 0 ? -MZ_E_NO_STATS : -1 - status; left > 0; --left) {
        while (*text++) {
        }
    }
    return text;
}
