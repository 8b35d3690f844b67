"""What head, tail and node declare alike: batches, step sizes, gradient buffers."""

from ..net import arena as planner
from ..net import trainable
from ..net import words as L
from .declaration import GUARDS, Method
from .gradient import grad_bytes

GUARD = ("guard", "held", GUARDS)  # samples that decide whether the stage is kept
DECAY = ("decay", 3, 0, 31)  # momentum is 1 - 2^-decay; 0: none
HEAD_SHIFT = ("head_shift", 0, -64, 64)  # halvings of the head's step that suits the model


def exact(spec):
    """Operators whose gradient has a buffer: the body's, then the head."""
    return spec["ops"] + [spec["head"]] if spec["head"] >= 0 else spec["ops"]


class BatchMethod(Method):
    """Specs have ops (the body, [] for the head alone), head (-1: none), batch, steps."""

    def resolve(self, stage, ops, head, want):
        batch = min(stage["batch"], want.train)
        spec = {key: stage[key] for key in stage if key != "epochs"}
        spec.update(ops=ops, head=head, batch=batch)
        spec["steps"] = want.steps or max(1, stage["epochs"] * want.train // batch)
        return spec

    def trains(self, spec):
        return [(op, L.WEIGHTS | L.BIASES) for op in exact(spec)]

    def memory(self, plan, spec, state):
        ops = exact(spec)
        return {
            "activations": planner.layout(plan, ops[0], self.live(plan, spec)),
            "gradients": sum(grad_bytes(plan, op) for op in ops),
            "buffers": 2 * spec["batch"],  # indices of a record
        }

    def work(self, plan, spec, samples):
        seen = spec["steps"] * spec["batch"]
        first = exact(spec)[0]
        yield ("prefix", first, min(seen, samples))
        yield ("sample", seen)
        yield ("pass", first, plan[L.N_OPS], seen, ())
        for op in exact(spec):
            yield ("gradient", op, seen)
            yield ("apply", op, spec["steps"])
        yield ("record", 2 * spec["batch"], spec["steps"])

    def modules(self, spec):
        return ("methods.gradient", "methods.batch_gradient")

    def live(self, plan, spec):
        """Operators whose outputs the closed form of a single operator needs."""
        return trainable.kept(plan, spec["ops"][0] if len(spec["ops"]) == 1 else -1)

    def gradient(self, plan, spec):
        return spec["ops"], spec["head"], -1, self.live(plan, spec), self.nodes_of(spec)

    def nodes_of(self, spec):
        return ""

    def stage(self, run, spec, seed):
        from .batch_gradient import BatchGradient, Exact

        gradient = run.gradient_for(*self.gradient(run.model.plan, spec))
        return BatchGradient(run, spec, seed, gradient, Exact(run.model, gradient))
