#ifndef MZ_LOSS_H
#define MZ_LOSS_H

#include "base.h"

// Softmax cross-entropy of Q12 logits: the loss in Q12 nats, and err (Q15) unless NULL.
int32_t mz_loss(const int32_t *logits, int32_t classes, int32_t label, int32_t *err);

#endif
