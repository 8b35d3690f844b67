"""The stage of recolor: an operator's filters are mixed, then its statistics realigned (SPEC.md,
1.12)."""

from array import array

from ..board import memory
from ..board.integers import bit_length
from ..journal import record
from ..net import arena as planner
from ..net import words as L
from .statistics import Statistics

_VALUE_BITS = 20  # of a measured accumulator
_POSITIONS = 1 << 20
_WHOLE = 256  # alpha of the realign


class Colors(Statistics):
    """An operator of `mixed` has two steps: a VALUES of int16 map[C*C] with aux operator | MIXED,
    then the step of Statistics."""

    def __init__(self, run, spec, seed):
        Statistics.__init__(self, run, spec, seed, _WHOLE)
        mixed = spec["mixed"]
        self._ops = []  # of every step
        self._mixes = bytearray(self.steps)
        for op in spec["ops"]:
            if op in mixed:
                self._mixes[len(self._ops)] = 1
                self._ops.append(op)
            self._ops.append(op)
        most = max(self._channels(op) for op in mixed)
        self._params = array("i", (0, 0, 0, 0, 0))
        self._first = array("q", memory.take("sums of channels", 8 * most))
        self._products = array("q", memory.take("products of channels", 4 * most * (most + 1)))
        self._room = memory.take("matrices of channels", 12 * most * most)
        self._maps = record.new(record.VALUES, 2 * most * most, run.board_id)
        self._bits = {op: self._shift_of(op) for op in mixed}

    def _shift_of(self, op):
        """Bits by which an operator's accumulators are shortened."""
        bound = planner.accumulator_bound(self.model.plan, L.op_base(op))
        return max(0, bit_length(bound) - _VALUE_BITS)

    def begin(self, step):
        if not self._mixes[step]:
            Statistics.begin(self, step)
            return
        self._op = self._ops[step]
        for total in (self._first, self._products):
            for i in range(len(total)):
                total[i] = 0

    def take(self, step, i):
        if not self._mixes[step]:
            Statistics.take(self, step, i)
            return
        m = self.model
        op = self._op
        if op:
            m.k.forward(m.plan, m.blob, m.state, m.arena, 0, op, 0)
        params = self._params
        params[0] = op
        params[1] = self.seed
        params[2] = i
        params[3] = self._places()
        params[4] = self._bits[op]
        m.k.color_sums(
            m.plan, m.blob, m.state, m.arena, params, self._first, self._products
        )  # fmt: skip

    def _places(self):
        return max(1, min(self.spec["places"], _POSITIONS // self.per_step))

    def finish(self, step):
        if not self._mixes[step]:
            Statistics.finish(self, step)
            return
        m = self.model
        op = self._op
        rec = self._map_record(op)
        params = self._params
        params[0] = op
        params[1] = self.per_step * self._places()
        params[2] = self.spec["shrink"]
        m.k.color_map(
            m.plan, m.blob, params, self._first, self._products, self._room, record.payload(rec)
        )
        record.put16(rec, 2, len(rec) - record.HEADER - record.CRC)
        record.put32(rec, 4, step)
        record.put16(rec, 10, op)
        self.record = rec

    def _map_record(self, op):
        c = self._channels(op)
        return memoryview(self._maps)[: record.HEADER + 2 * c * c + record.CRC]

    def apply(self, rec):
        step = record.get32(rec, 4)
        if step >= self.steps or not self._mixes[step]:
            Statistics.apply(self, rec)
            return
        op = record.get16(rec, 10)
        if rec is not self.record:
            self._check_map(rec, step, op)
        m = self.model
        m.k.color_mix(m.plan, m.state, op, record.payload(rec))

    def _check_map(self, rec, step, op):
        same = rec[0] == record.VALUES and op == self._ops[step]
        if not same or len(rec) != len(self._map_record(op)):
            raise ValueError("the journal is damaged: a record does not suit its stage")
