"""Training on samples as they come: trainer.step(x, y)."""

_MOST = 4096  # samples of a recipe; a run that is resumed tells how many when it has begun


class LiveSource:
    """A data source that always gives the sample it was shown last."""

    live = True
    labelled = True

    def __init__(self, count):
        self._count = count
        self._sample = None

    def __len__(self):
        return self._count

    def show(self, sample):
        self._sample = sample

    def label(self, i):
        return 0

    def read_into(self, i, buf):
        memoryview(buf)[:] = self._sample
        return 0


class Online:
    """Checks live samples, one at a time. recipe: of a single stage, or None for the one of a
    journal that is resumed."""

    def __init__(self, model, recipe):
        self._model = model
        self.source = LiveSource(recipe["samples"] if recipe else _MOST)

    def check(self, program, x, y):
        """Shows the sample to the source; its class. ValueError for a sample or label that does
        not fit; y may be None where the stage of the program (or recipe) needs no labels."""
        from ..methods import forget_declarations, method

        model = self._model
        if type(x) not in (bytes, bytearray) or len(x) != model.sample_len:
            from ..net import arrays

            x = arrays.sample(model, x)
        if y is None and not method(program["stages"][0]["kind"]).labels:
            y = 0
        forget_declarations()
        try:
            inside = 0 <= y < model.classes and int(y) == y
        except TypeError:
            inside = False  # None, a text
        if not inside:
            raise ValueError(
                "label %r is not one of the classes, integers 0..%d" % (y, model.classes - 1)
            )
        y = int(y)
        self.source.show(x)
        return y


def single(recipe):
    """A copy of the recipe for live samples: one stage, which no samples can guard."""
    if len(recipe["stages"]) != 1:
        raise ValueError(
            "step(x, y) takes a recipe of one stage, such as spsa or tail, not %s" % recipe["name"]
        )
    if recipe["stages"][0].get("pick"):
        raise ValueError("step(x, y) has no samples to pick operators with: give layers instead")
    return dict(recipe, holdout=0, stages=[dict(recipe["stages"][0], guard="")])
