"""Softmax cross-entropy on Q12 logits in fixed point (SPEC.md, 1.6)."""

import numpy as np

_EXP2 = (123425, -1386547, 10303976, -59591327, 257940679, -744261105, 1 << 30)  # Q30, of 2^-x


def exponentials(logits):
    """e_i = 2^20 * exp(z_i - max z), int64 array; logits int array (Q12 nats)."""
    z = np.asarray(logits, np.int64)
    t = ((z.max() - z) * 94548) >> 12
    n, x = t >> 16, (t & 0xFFFF) << 14
    p = np.full_like(x, _EXP2[0])
    for coefficient in _EXP2[1:]:
        p = coefficient + ((p * x) >> 30)
    return np.where(n > 20, 0, (p >> 10) >> np.minimum(n, 20))


def cross_entropy(logits, label):
    """(loss Q12, err int64[C] Q15); logits are read as clamped to +-2^20."""
    z = np.clip(np.asarray(logits, np.int64), -(1 << 20), 1 << 20)
    e = exponentials(z)
    total = int(e.sum())
    k = total.bit_length() - 1
    v, frac = total << 30 - k, 0
    for _ in range(16):
        v = v * v >> 30
        frac = 2 * frac + (v >= 1 << 31)
        if v >= 1 << 31:
            v >>= 1
    loss = int(z.max() - z[label]) + (((k - 20 << 16 | frac) * 45426) >> 20)
    err = (e << 11) // (total >> 4)
    err[label] -= 32768
    return loss, err
