// The one table of the native API (SPEC.md section 4): X(name, signature, function).
// Signature letters: r readable buffer, w writable buffer, i integer.
#ifndef MZ_API_H
#define MZ_API_H

#include "base.h"

#define MZ_MAX_ARGS 8

// One argument as a shell collects it.
typedef struct {
    uint8_t *data; // of a buffer
    int32_t n; // its bytes, or the integer
    int32_t width; // bytes of a buffer item
} mz_arg_t;

typedef int32_t (*mz_entry_t)(const mz_arg_t *args);

#define MZ_API_CORE(X) \
    X(version, "", mz_api_version) \
    X(input, "rrwr", mz_api_input) \
    X(forward, "rrwwiii", mz_api_forward) \
    X(loss, "rriw", mz_api_loss) \
    X(probe, "rrwwrw", mz_api_probe) \
    X(update, "rrwwrr", mz_api_update) \
    X(init_state, "rrw", mz_api_init_state) \
    X(stats, "rrwwiiw", mz_api_stats) \
    X(stats_finish, "iirw", mz_api_stats_finish) \
    X(realign, "rrririw", mz_api_realign) \
    X(assign, "rwir", mz_api_assign) \
    X(patch_sums, "rwiiiww", mz_api_patch_sums) \
    X(node, "rrwwrwww", mz_api_node) \
    X(export_weights, "rriw", mz_api_export_weights) \
    X(signs, "iiiiw", mz_api_signs) \
    X(derive, "iii", mz_api_derive) \
    X(shuffle, "iw", mz_api_shuffle) \
    X(crc32, "rii", mz_api_crc32) \
    X(seal, "wi", mz_api_seal) \
    X(check_seal, "ri", mz_api_check_seal) \
    X(requant, "riiw", mz_api_requant)

// Those that a native module may leave to a second one, _microzo_grad (see the Makefile).
#define MZ_API_GRADIENT(X) \
    X(head_grad, "rrwwirw", mz_api_head_grad) \
    X(tail_grad, "rrwwiirw", mz_api_tail_grad) \
    X(node_grad, "rwiiww", mz_api_node_grad) \
    X(apply_grad, "rwiiiw", mz_api_apply_grad)

// Those of recolor: a native module that is split leaves them out.
#define MZ_API_COLOR(X) \
    X(color_sums, "rrrrrww", mz_api_color_sums) \
    X(color_map, "rrrrrww", mz_api_color_map) \
    X(color_mix, "rwir", mz_api_color_mix)

#define MZ_API(X) \
    MZ_API_CORE(X) \
    MZ_API_GRADIENT(X) \
    MZ_API_COLOR(X)

#define MZ_API_DECLARE(name, signature, function) int32_t function(const mz_arg_t *args);
MZ_API(MZ_API_DECLARE)
#undef MZ_API_DECLARE

// What every shell calls: checks that hold for all entries, then the entry.
int32_t mz_invoke(const char *signature, mz_entry_t entry, const mz_arg_t *args);

#endif
