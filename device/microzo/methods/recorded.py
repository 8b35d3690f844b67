"""Samples that a journal names, for a stage that reruns its steps."""

from ..journal import record


class Recorded:
    """Samples whose indices stand in a record, read from the data again; load(i) as of Drawn."""

    def __init__(self, model, data, first, wide):
        self._model = model
        self._data = data
        self._first = first
        self._wide = wide
        self._sample = bytearray(model.sample_len)
        self._rec = None
        self._at = 0
        self.index = self.label = 0

    def read(self, rec, at):
        """The indices are 16-bit, from byte `at` of the record on."""
        self._rec = rec
        self._at = at

    def load(self, i):
        m = self._model
        self.index = record.get16(self._rec, self._at + 2 * i)
        if self.index >= len(self._data):
            raise ValueError(
                "the journal names sample %d of %d: give it the data it was trained with"
                % (self.index, len(self._data))
            )
        self.label = self._data.read_into(self.index, self._sample)
        if self.label is None or not 0 <= self.label < m.classes:
            raise ValueError("sample %d has no label that the model knows" % self.index)
        m.k.input(m.plan, m.blob, m.arena, self._sample)
        if self._first:
            m.k.forward(m.plan, m.blob, m.state, m.arena, 0, self._first, self._wide)

    def close(self):
        """Nothing is kept."""
