"""Training on samples as they come: trainer.step(x, y)."""

LABEL_FREE = ("realign", "entropy")
_MOST = 4096  # samples of a recipe; a run that is resumed tells how many when it has begun


class LiveSource:
    """A data source that always gives the sample it was shown last."""

    live = True
    labelled = True

    def __init__(self, count):
        self._count = count
        self.sample = None

    def __len__(self):
        return self._count

    def label(self, i):
        return 0

    def read_into(self, i, buf):
        memoryview(buf)[:] = self.sample
        return 0


class Feed:
    """Takes one sample at a time for a trainer whose recipe is a single stage."""

    def __init__(self, trainer):
        self._trainer = trainer
        self._source = LiveSource(trainer.recipe["samples"] if trainer.recipe else _MOST)
        self._begun = False

    def take(self, x, y):
        """Loss (nats) of the sample before the update; every full batch (or all probes of a
        step, or the samples of an operator of realign) is an update. y: None where a stage needs
        no labels."""
        t = self._trainer
        model = t.model
        if len(x) != model.sample_len:
            raise ValueError(
                "a sample of %s has %d bytes, not %d" % (model.path, model.sample_len, len(x))
            )
        self._source.sample = x
        if not self._begun and t.recipe is None:
            self._begin()
        if y is None and (t.recipe or t.program)["stages"][0]["kind"] in LABEL_FREE:
            y = 0
        if y is None or not 0 <= y < model.classes:
            raise ValueError("label %s is not one of the classes 0..%d" % (y, model.classes - 1))
        if not self._begun:
            self._begin()
        stage = t.live_stage()
        if stage is None:
            raise ValueError(
                "the %s steps of this recipe are done, make a new trainer" % t.info.steps
            )
        if stage.feed(y, t.at.step):
            stage.record[1] |= stage.live_flag
            t.commit_live()
        return stage.fed_loss / 4096

    def _begin(self):
        self._trainer.begin_live(self._source)
        self._begun = True


def single(recipe):
    """A copy of the recipe for live samples: one stage, which no samples can guard."""
    if len(recipe["stages"]) != 1:
        raise ValueError(
            "step(x, y) takes a recipe of one stage, such as spsa or tail, not %s" % recipe["name"]
        )
    if recipe["stages"][0]["kind"] == "refilter":
        raise ValueError("step(x, y) cannot refilter, which sees its samples twice: call run")
    if recipe["stages"][0].get("pick"):
        raise ValueError("step(x, y) has no samples to pick operators with: give layers instead")
    return dict(recipe, holdout=0, stages=[dict(recipe["stages"][0], guard="")])
