// Node perturbation of one operator's int8 output (SPEC.md 1.10).
#ifndef MZ_NODE_H
#define MZ_NODE_H

#include "net.h"

enum {
    // One piece of passes that perturb several operators.
    MZ_NODE_MOVE = 2, // eps times the signs is added to the free nodes
    MZ_NODE_CREDIT = 3, // clip times the signs of the free nodes is added to their sums
    MZ_NODE_SHARED = 4, // added to these: a channel has one sign at all positions
};

typedef struct {
    int32_t op;
    int32_t seed;
    int32_t label;
    int32_t mode; // MZ_MODE_WIDE or 0, or one of those above
    uint32_t keep; // of the number of a position's first word: all bits, or none if shared
    int32_t eps;
    int32_t scale, shift, clip; // of the loss difference
} mz_node_t;

// Both passes behind the operator, whose output is in the arena and stays there; y: a copy of it.
int32_t mz_node_probe(const mz_net_t *net, const mz_node_t *node, int8_t *y, int32_t *sums,
    int32_t *out);

#endif
