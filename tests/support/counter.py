"""Kernels that count what steps make them do, in the words of Method.work."""

import collections

from microzo.net import arena as planner
from microzo.net import words as L


class Counter:
    """Wraps kernels; counts while `on`. passes: to the logits; macs; calls: {(word of work,
    operator): times}; prefixes: computed ones, which nothing else counts."""

    def __init__(self, kernels):
        self._kernels = kernels
        self.on = False
        self.passes = self.macs = self.prefixes = 0
        self.calls = collections.Counter()

    def __getattr__(self, name):
        real, seen = getattr(self._kernels, name), getattr(self, f"_{name}", None)
        if seen is None:
            return real

        def call(*args):
            if self.on:
                seen(*args)
            return real(*args)

        return call

    def _run(self, plan, first, last, times=1):
        self.macs += times * sum(planner.macs(plan, L.op_base(i)) for i in range(first, last))
        self.passes += times * (last == plan[L.N_OPS])

    def _forward(self, plan, blob, state, arena, first, last, mode):
        self._run(plan, first, last)

    def _probe(self, plan, blob, state, arena, params, out):
        self._run(plan, params[0], plan[L.N_OPS], 1 if params[3] & 2 else 2)

    def _node(self, plan, blob, state, arena, params, *rest):
        if params[3] & 3 < 2:
            self._run(plan, params[0] + 1, plan[L.N_OPS], 2)

    def _one(self, word, plan, op):
        self.calls[word, op] += 1
        if word != "apply":
            self.macs += planner.macs(plan, L.op_base(op))

    def _stats(self, plan, blob, state, arena, op, *rest):
        self._one("stats", plan, op)

    def _head_grad(self, plan, blob, state, arena, op, *rest):
        self._one("gradient", plan, op)

    _tail_grad = _head_grad

    def _node_grad(self, plan, arena, op, *rest):
        self._one("gradient", plan, op)

    def _apply_grad(self, plan, state, op, *rest):
        self._one("apply", plan, op)
