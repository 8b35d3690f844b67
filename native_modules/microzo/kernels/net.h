// Operators in order: forward passes, probes, class and statistics.
#ifndef MZ_NET_H
#define MZ_NET_H

#include "pass.h"

// Runs operators first..last-1. The caller has checked them (mz_layers_check).
int32_t mz_run(const mz_net_t *net, int32_t first, int32_t last, const mz_pass_t *pass);
// Logits of a finished pass, made from the int8 output if no operator emits them.
int32_t mz_finish(const mz_net_t *net);
// Whether the last operator fits the logits: to be checked before a pass that ends there.
int32_t mz_end_check(const mz_net_t *net);
int32_t mz_class(const mz_net_t *net);
// Loss of the two passes with opposite signs, or of the first alone. With MZ_MODE_KEEP the products
// of the first operator follow in `out`, see mz_dense_passes; with more than MZ_KEPT nothing does.
int32_t mz_probe(const mz_net_t *net, int32_t first, mz_pass_t *pass, int32_t label, int32_t *out);

#endif
