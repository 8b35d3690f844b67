"""What the declaration of a method has. A declaration is the only home of a method's settings;
checks, defaults, `--set` and the tables of the reference come from it."""

GUARDS = ("all", "held", "free", "")


class Method:
    """Derived classes set what differs and end in an instance called METHOD.

    settings, options: rows (name, default, lowest, highest) of integers or (name, default, words);
    of a row whose default is a tuple the value is a tuple of some of the words. The comment behind
    a row is its documentation. options are off if they are left out of a recipe.
    """

    kind = ""
    labels = True  # it learns from labels
    perturbs = ""  # "weights" or "nodes": what a recipe's split gives it
    settings = ()
    options = ()

    takes_gradients = False  # their kernels are loaded before the buffers

    def defaults(self):
        """The stage as a recipe has it: kind and settings."""
        stage = {"kind": self.kind}
        for row in self.settings:
            stage[row[0]] = row[1]
        return stage

    def check(self, stage):
        """ValueError for a stage of a recipe that this method cannot run."""
        names = [row[0] for row in self.settings]
        for name in names:
            if name not in stage:
                raise ValueError("stage %s has no %r" % (self.kind, name))
        for row in self.settings + self.options:
            if row[0] in stage:
                _check_value(self.kind, row, stage[row[0]])
        names += [row[0] for row in self.options]
        for name in stage:
            if name != "kind" and name not in names:
                from ..board.nearest import meant

                raise ValueError(
                    "stage %s has no setting %r: %s" % (self.kind, name, meant(name, names))
                )
        self.check_together(stage)

    def check_together(self, stage):
        """ValueError for settings that exclude each other; says why."""

    def choices(self, plan, stage, want):
        """Specs that a stage of a recipe may become for the model of `plan`, best first; want: a
        recipes.resolve.Want, whose notes tell why there are none."""
        raise NotImplementedError

    def trains(self, spec):
        """Pairs (operator, bits of words.WEIGHTS...) of what a spec trains."""
        raise NotImplementedError

    def memory(self, plan, spec, state):
        """Bytes by part that a spec takes at once: activations, gradients, nodes, buffers.

        plan: a copy that may be laid out anew, with the trained values placed; state: their bytes.
        """
        raise NotImplementedError

    def work(self, plan, spec, samples):
        """What all steps of a spec do, as tuples: ("pass", first, last, passes, perturbed
        operators), ("prefix", first, samples), ("sample", times), ("gradient" | "stats" | "nodes"
        | "apply" | "update", operator, times), ("patches", operator, patches), ("solve",
        operator, times), ("record", bytes of payload, records), ("indices", bytes more of them,
        records).

        "stats" runs its operator and measures the sums. A prefix is computed once a sample where
        it is cached. Costs in forwards, MACs, seconds and bytes of journal are sums over them.
        samples: how many the stage sees in all.
        """
        raise NotImplementedError

    def modules(self, stage):
        """Names of the modules that a stage of a recipe runs, so that they are loaded before its
        buffers."""
        return ()

    def gradient(self, plan, spec):
        """(operators, head, first operator of its passes or -1, operators whose outputs stay live,
        what node perturbation needs: "", "one" or "several") of the gradient buffers of a spec,
        or None; they are taken while the heap is whole."""
        return None

    def stage(self, run, spec, seed):
        """The Stage of a spec in a run."""
        raise NotImplementedError


def _check_value(kind, row, value):
    name, default = row[0], row[1]
    if isinstance(default, tuple):
        if (
            not isinstance(value, (tuple, list))
            or not value
            or any(item not in row[2] for item in value)
        ):
            raise ValueError(
                "stage %s: %s is a tuple of %s, not %r"
                % (kind, name, " and ".join('"%s"' % word for word in row[2]), value)
            )
    elif isinstance(default, str):
        if value not in row[2]:
            raise ValueError(
                "stage %s: %s is %s, not %r"
                % (kind, name, " or ".join('"%s"' % word for word in row[2]), value)
            )
    elif not isinstance(value, (int, bool)) or not row[2] <= value <= row[3]:
        raise ValueError("stage %s: %s is %d..%d, not %r" % (kind, name, row[2], row[3], value))
