"""node: perturbs outputs instead of weights; weights get their gradient from the loss differences.

Node perturbation of arXiv 2411.05873; the head learns by its exact gradient beside it.
"""

from ..net import arena as planner
from ..net import trainable
from ..net import words as L
from ..zo.schedule import NORM_SCALINGS
from .batch_method import DECAY, GUARD, BatchMethod


class Node(BatchMethod):
    kind = "node"
    perturbs = "nodes"
    settings = (
        ("epochs", 40, 1, 65535),  # passes over the samples that are trained
        ("batch", 64, 1, 1024),  # samples of a step
        ("probes", 8, 1, 64),  # pairs of passes for each sample
        ("eps", 16, 1, 127),  # perturbation of an output, LSB
        ("clip", 8192, 1, 32767),  # largest loss difference that counts, Q12 nats
        ("conv_shift", 6, -64, 64),  # halvings of a step that moves a weight by one LSB
        ("head_shift", 1, -64, 64),  # halvings of the head's step that suits the model
        DECAY,
        ("wide", 0, 0, 1),  # 1: passes with 16-bit weights
        ("norm_scaling", "", NORM_SCALINGS),  # of the step by probes and nodes; "root": its root
        ("train_head", 1, 0, 1),  # 1: the head learns by its exact gradient
        ("model_wise", 0, 0, 1),  # 1: all operators are perturbed in the same pair of passes
        ("per_channel", 0, 0, 1),  # 1: all positions of a channel move by the same sign
        GUARD,
    )

    def choices(self, plan, stage, want):
        head = trainable.head(plan)
        heads = (head, -1) if stage["train_head"] and head >= 0 else (-1,)
        specs = []
        for ops in self._groups(plan, stage, want):
            for last in heads:
                spec = self.resolve(stage, ops, last, want)
                del spec["train_head"]
                specs.append(spec)
        return specs

    def _groups(self, plan, stage, want):
        """Lists of the operators that a stage may perturb, best first."""
        ops = trainable.nodes(plan, want.layers)
        anything = want.layers in ("auto", "all")
        if not stage["model_wise"]:
            return [[i] for i in trainable.tails(plan) or ops[-1:]] if anything else [ops[:1]]
        fewest = len(ops) if not want.limited or not anything else 1
        return [ops[-n:] for n in range(len(ops), fewest - 1, -1)]

    def memory(self, plan, spec, state):
        needs = BatchMethod.memory(self, plan, spec, state)
        most = max(planner.out_size(plan, L.op_base(i)) for i in spec["ops"])
        needs["nodes"] = (4 if spec["model_wise"] else 5) * most
        return needs

    def work(self, plan, spec, samples):
        for item in BatchMethod.work(self, plan, spec, samples):
            yield item
        seen = spec["steps"] * spec["batch"]
        probes = seen * spec["probes"]
        n = plan[L.N_OPS]
        # for several, five calls an operator and probe: about those of another stage's sample
        yield ("sample", probes * len(spec["ops"]))
        for op in spec["ops"]:
            yield ("nodes", op, probes)
        first = spec["ops"][0]
        if not spec["model_wise"]:
            first = trainable.kept(plan, first)[-1] + 1  # where its probes start
        yield ("pass", first, n, 2 * probes, ())

    def modules(self, spec):
        return BatchMethod.modules(self, spec) + ("methods.nodes",)

    def nodes_of(self, spec):
        return "several" if spec["model_wise"] else "one"

    def stage(self, run, spec, seed):
        from .batch_gradient import BatchGradient
        from .nodes import AllNodes, Nodes

        gradient = run.gradient_for(*self.gradient(run.model.plan, spec))
        make = AllNodes if spec["model_wise"] else Nodes
        source = make(run.model, gradient, spec, seed)
        return BatchGradient(run, spec, seed, gradient, source)


METHOD = Node()
