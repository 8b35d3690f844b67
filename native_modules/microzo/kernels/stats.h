#ifndef MZ_STATS_H
#define MZ_STATS_H

#include "base.h"

// Mean and deviation (Q4) of n accumulators from their shifted sums (SPEC.md 1.9).
int32_t mz_stats_finish(int32_t n, int32_t shift, int64_t s1, int64_t s2, int32_t *mean, int32_t *sd);

#endif
