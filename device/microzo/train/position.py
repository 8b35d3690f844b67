"""Where a run stands: the one state machine of records, for the run that writes them and for
whoever reads them."""

from ..journal import record
from .guard import Score

_DAMAGED = "the journal is damaged: "


class Position:
    """Of a run of `program`. stage: its number, `begun` once its STAGE (and MARK) is written;
    step: steps that are done; sizes: octets of the STAGE; before: the Score of the MARK; outcomes:
    (kept, correct before, correct after, of how many) of the stages before; finished: after
    END."""

    def __init__(self, program):
        self._stages = program["stages"]
        self.stage = 0
        self.begun = False
        self.step = 0
        self.sizes = None  # of a STAGE that waits for its MARK, or has it
        self.before = Score()
        self.outcomes = ()
        self.finished = False
        self.state_crc = None  # of END

    def number(self):
        """Place of the stage in the program."""
        return self.stage

    def spec(self):
        return self._stages[self.number()]

    def waits(self):
        """True between a STAGE and its MARK."""
        return self.sizes is not None and not self.begun

    def realigned(self):
        """True if a stage that starts from clean statistics was kept before this one."""
        for i in range(len(self.outcomes)):
            if self.outcomes[i][0] and self._stages[i].get("realigns"):
                return True
        return False

    def take(self, rec):
        """Goes on behind a record; ValueError if it cannot stand here. Allocates nothing for a
        step."""
        kind = rec[0]
        if kind == record.STEP or kind == record.VALUES:
            if not self.begun or record.get32(rec, 4) != self.step:
                raise ValueError(_DAMAGED + "step %d is out of order" % record.get32(rec, 4))
            if self.step >= self.spec()["steps"]:
                raise ValueError(_DAMAGED + "stage %d has too many steps" % self.stage)
            self.step += 1
        elif kind == record.STAGE:
            if self.sizes is not None or record.get16(rec, 10) != self.stage & 65535:
                raise ValueError(_DAMAGED + "a stage is out of order")
            if self.number() >= len(self._stages):
                raise ValueError(_DAMAGED + "it has more stages than its recipe")
            self.sizes = bytes(record.payload(rec))
            self.begun = not self.spec()["guard"]
            self.step = 0
        elif kind == record.MARK:
            if not self.waits() or record.get16(rec, 10) != self.stage & 65535:
                raise ValueError(_DAMAGED + "a MARK is out of order")
            self.before = score_of(rec)
            self.begun = True
        elif kind == record.KEEP or kind == record.ROLLBACK:
            if not self.begun or self.step != self.spec()["steps"]:
                raise ValueError(_DAMAGED + "stage %d ends too early" % self.stage)
            if record.get16(rec, 10) != self.stage & 65535:
                raise ValueError(_DAMAGED + "the end of a stage is out of order")
            after = score_of(rec)
            self._next(kind == record.KEEP, after)
        elif kind == record.END:
            if self.stage != len(self._stages) or self.begun:
                raise ValueError(_DAMAGED + "it ends before its last stage")
            if len(rec) != record.HEADER + 4 + record.CRC:
                raise ValueError(_DAMAGED + "its END has the wrong length")
            self.finished = True
            self.state_crc = record.get32(rec, record.HEADER)
        else:
            raise ValueError(_DAMAGED + "it has two recipes")

    def after(self, rec):
        """The Position behind a record that is no step's; this one stays as it is, so that an
        interruption finds the one or the other."""
        other = type(self)({"stages": self._stages})
        other.stage = self.stage
        other.begun = self.begun
        other.step = self.step
        other.sizes = self.sizes
        other.before = self.before
        other.outcomes = self.outcomes
        other.take(rec)
        return other

    def forget_stage(self):
        """As before a STAGE that waits for its MARK."""
        self.sizes = None

    def restart(self):
        """The stage begins again, after its MARK."""
        self.step = 0

    def _next(self, kept, after):
        outcome = kept, self.before.correct, after.correct, after.total
        self.outcomes += (outcome,)
        self.stage += 1
        self.begun = False
        self.sizes = None
        self.step = 0
        self.before = Score()


def score_record(kind, score, stage, crc, board_id):
    """MARK, KEEP or ROLLBACK: the score and the checksum of the state."""
    rec = record.new(kind, 16, board_id, stage)
    at = record.HEADER
    record.put32(rec, at, score.correct)
    record.put32(rec, at + 4, score.loss)
    record.put32(rec, at + 8, score.total)
    record.put32(rec, at + 12, crc)
    return rec


def score_of(rec):
    at = record.HEADER
    if len(rec) != at + 16 + record.CRC:
        raise ValueError(_DAMAGED + "a score has the wrong length")
    return Score(record.get32(rec, at), record.get32(rec, at + 4), record.get32(rec, at + 8))
