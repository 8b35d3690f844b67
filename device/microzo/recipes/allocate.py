"""Which operators are trained by perturbed weights and which by perturbed nodes.

An operator number: those before it by weights, the others by nodes (the block threshold of arXiv
2411.05873). "size": for every operator by itself, the kind with the larger

    share / (multiply-accumulates of a step * bytes),

share being the part of a gradient that a step's estimate holds, Q / (Q + d - 1) for d weights and
NQ / (NQ + n - 1) for n nodes (the gradient-norm scaling of the same paper). The rule is ours: that
of the paper was not available. The last operator has no nodes to perturb.
"""

from ..net import arena as planner
from ..net import trainable
from ..net import words as L


def parts(plan, recipe, stage, perturbs, layers):
    """Pairs (stage, layers) that a stage of the recipe becomes; perturbs: of its method, those of
    other kinds stay."""
    if not perturbs:
        return ((stage, layers),)
    by_nodes = nodes(plan, recipe, trainable.choose(plan, layers))
    if perturbs == "weights":
        rest = [i for i in trainable.choose(plan, layers) if i not in by_nodes]
        return ((stage, rest),) if rest else ()
    if stage["model_wise"]:
        return ((stage, by_nodes),) if by_nodes else ()
    epochs = max(1, stage["epochs"] // max(1, len(by_nodes)))
    return [(dict(stage, epochs=epochs), [op]) for op in by_nodes]


def nodes(plan, recipe, ops):
    """Those of `ops` that are trained by nodes."""
    last = plan[L.N_OPS] - 1
    if recipe["split"] != "size":
        if recipe["split"] > last:
            raise ValueError(
                "split is an operator, 0..%d of this model, not %d" % (last, recipe["split"])
            )
        return [i for i in ops if recipe["split"] <= i != last]
    weight = _stage(recipe, "spsa")
    node = _stage(recipe, "node")
    return [i for i in ops if i != last and _favours_nodes(plan, i, weight, node)]


def _stage(recipe, kind):
    for stage in recipe["stages"]:
        if stage["kind"] == kind:
            return stage
    raise ValueError('split "size" is for recipes with an spsa and a node stage')


def _favours_nodes(plan, op, weight, node):
    o = L.op_base(op)
    d = plan[o + L.OUT_C] * planner.row_len(plan, o)
    n = planner.out_size(plan, o)
    behind = sum(planner.macs(plan, L.op_base(i)) for i in range(op + 1, plan[L.N_OPS]))
    own = planner.macs(plan, o)
    q = weight["probes"]
    passes = weight["samples"] * (2 * q if weight["antithetic"] else q + 1)
    by_weights = (q, q + d - 1, passes * (own + behind), 2 * d)
    nq = node["batch"] * node["probes"]
    passes = node["batch"] * (1 + 2 * node["probes"])
    macs = passes * behind + 2 * node["batch"] * own  # its own pass, then its weight gradient
    by_nodes = (nq, nq + n - 1, macs, 6 * d + 5 * n)
    # a / (b c e) of nodes > that of weights
    return (
        by_nodes[0] * by_weights[1] * by_weights[2] * by_weights[3]
        > by_weights[0] * by_nodes[1] * by_nodes[2] * by_nodes[3]
    )
