"""From counted operators to the table from which `microzo plan` estimates times."""

import itertools
import json
import random
import types

import demo_step
import nets as bench_nets
import numpy as np

from microzo.net import words as L
from microzo_host.plan import time as steptime

TERMS = ("macs", "outputs", "weights")


def rare_kinds():
    """A network of the operators that the models do not have, as a model."""
    net = bench_nets.BenchNetwork(random.Random("kinds"), (24, 24, 8))
    t = net.pad(0, (1, 1, 1, 1))
    t = net.pool(t, L.MAXPOOL, (2, 2), (2, 2))
    u = net.conv(t, 8, (1, 1))
    t = net.mul(t, u)
    t = net.concat(t, net.lut(u))
    t = net.mean(t, (13, 13), (1, 1)) if net.shapes[t][0] == 13 else net.mean(t, (1, 1), (1, 1))
    net.dense(t, 10, True)
    net.finish(trainable=2, rooms=True)
    return types.SimpleNamespace(plan=net.plan, blob=net.blob, ops=len(net.ops))


def fit(rows, wanted):
    """Instructions for each of TERMS, none negative: least squares of the relative error."""
    a = np.array([[r[t] for t in TERMS] for r in rows], float)
    y = np.array([r[wanted] for r in rows], float)
    best = None
    for n in range(1, len(TERMS) + 1):
        for chosen in itertools.combinations(range(len(TERMS)), n):
            part = a[:, chosen] / y[:, None]
            if np.linalg.matrix_rank(part) < n:
                continue
            found = np.linalg.lstsq(part, np.ones(len(y)), rcond=None)[0]
            error = ((part @ found - 1) ** 2).sum()
            if (found >= 0).all() and (best is None or error < best[0] - 1e-9):
                best = error, chosen, found
    made = dict.fromkeys(TERMS, 0.0)
    made.update(zip([TERMS[i] for i in best[1]], best[2].tolist(), strict=True))
    return made


def fit_all(operators):
    """{kind: {term: instructions}} of the operators of one core."""
    kinds = {}
    for kind in dict.fromkeys(r["kind"] for r in operators):
        rows = [r for r in operators if r["kind"] == kind]
        kinds[kind] = fit(rows, "forward")
        if rows[0]["update"]:
            kinds[kind] |= training(rows)
        kinds[kind] = {term: round(value, 3) for term, value in kinds[kind].items()}
    return kinds


def table(operators, python):
    """{"python": ..., "cores": {core: {kind: {term: instructions}}}}; see steptime.py."""
    cores = {}
    for core in dict.fromkeys(r["core"] for r in operators):
        counted = [r for r in operators if r["core"] == core]
        cores[core] = fit_all(counted) | {"node": round(node_per_output(counted), 3)}
    return {"python": python, "cores": cores}


def training(rows):
    """Instructions a weight: of a perturbation, of an update by one pair and of a gradient's; a
    multiplication: of a gradient; an output: of statistics."""
    made = {
        "perturb": [(r["perturbed"] - r["forward"]) / r["weights"] for r in rows],
        "update": [r["update"] / r["weights"] / r["pairs"] for r in rows],
        "apply": [r["apply"] / r["weights"] for r in rows],
        "gradient": [r["gradient"] / r["macs"] for r in rows],
        "stats": [(r["stats"] - r["forward"]) / r["outputs"] for r in rows if r["stats"]],
    }
    return {term: float(np.median(values)) for term, values in made.items() if values}


def node_per_output(operators):
    """Instructions for each output of a perturbed operator, besides the passes behind it."""
    values = []
    for r in operators:
        if r["node"]:
            behind = [s for s in operators if (s["core"], s["model"]) == (r["core"], r["model"])]
            passes = 2 * sum(s["forward"] for s in behind if s["op"] > r["op"])
            values.append((r["node"] - passes) / r["outputs"])
    return float(np.median(values))


def python_per_sample(folder):
    """Instructions outside the kernels for each sample of a step, on the emulated board."""
    step = demo_step.measure(folder, "all")
    return round((step.total - step.kernels) / step.pairs)


def write(operators, out, keep):
    """build/bench/costs.json; with `keep` also the table of the repository."""
    made = table(operators, python_per_sample(out / "demo"))
    text = json.dumps(made, indent=1) + "\n"
    for file in [out / "costs.json"] + [steptime.TABLE] * keep:
        file.write_text(text)
