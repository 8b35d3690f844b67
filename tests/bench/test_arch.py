"""The kernels of each instruction set, on bare cores and on this machine, against the oracle.

tests/kernels runs the same kinds of cases under MicroPython; here there are more of them, with
the shapes that the fast paths distinguish, and the portable C beside each fast path.
"""

import functools
import random
import shutil

import badcases
import baremetal
import caseformat
import casegen
import fuzzgen
import layercases
import pytest
import targets
from cores import CORES, XTENSA

from microzo_host import reference as oracle

CHUNK = 1000
MORE = 10 if targets.FULL else 1
EMULATED = {**CORES, XTENSA.name: XTENSA}
BUILDS = [(name, False) for name in EMULATED] + [("m4", True), ("m0plus", True)]
HOST = [("native", False), ("native-baseline", False)]  # targets of tests/kernels


@pytest.fixture(scope="module", params=BUILDS + HOST, ids=lambda b: b[0] + "-portable" * b[1])
def run(request, tmp_path_factory):
    """run(cases) -> mismatches on a core."""
    name, portable = request.param
    if (name, portable) in HOST:
        return run_on_host(name)
    for tool in EMULATED[name].tools:
        if not shutil.which(tool):
            # `make test` does without these compilers; `make test-full` installs them.
            must = targets.STRICT and (targets.FULL or name not in ("rv32", XTENSA.name))
            (pytest.fail if must else pytest.skip)(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp(name)
    elf = baremetal.build(EMULATED[name], folder, "cases", portable)

    def run_cases(cases):
        bad = []
        for i in range(0, len(cases), CHUNK):
            part = cases[i : i + CHUNK]
            image = folder / "cases.bin"
            image.write_bytes(caseformat.pack_all(part))
            bad += read(baremetal.run(EMULATED[name], elf, image, icount=False), part)
        return bad

    run_cases.keeps = not portable and name not in ("rv32", XTENSA.name)
    return run_cases


def run_on_host(name):
    target = targets.make(name)

    def run_cases(cases):
        parts = (cases[i : i + CHUNK] for i in range(0, len(cases), CHUNK))
        return [line for part in parts for line in target.run(part)]

    run_cases.keeps = False
    return run_cases


def read(text, cases):
    """Mismatches in what the program printed."""
    lines = text.split("\n")
    bad = [line for line in lines if "MISMATCH" in line]
    if f"DONE {len(cases)} {len(bad)}" not in lines:
        bad.append("the run did not end: " + text[-300:])
    return bad


@functools.cache
def judged_layers(seed, count):
    return [caseformat.judge(case, oracle) for case in layercases.cases(seed, count)]


@functools.cache
def judged_networks(count):
    return [
        caseformat.judge(case, oracle) for i in range(count) for case in casegen.good_cases(2, i)
    ]


def test_layers_give_the_oracles_bits(run):
    assert run(judged_layers(1, 100 * MORE)) == []


@functools.cache
def judged(cases):
    return [caseformat.judge(case, oracle) for case in cases()]


def test_every_zero_point(run):
    assert run(judged(layercases.zero_point_cases)) == []


def test_single_cells_uneven_pads_and_remainders(run):
    assert run(judged(layercases.edge_cases)) == []


@pytest.mark.parametrize(
    "cases",
    [
        layercases.gradient_cases,
        layercases.room_cases,
        layercases.large_cases,
        layercases.sum_cases,
        layercases.update_cases,
        layercases.few_pairs_cases,
        layercases.pair_cases,
        layercases.chain_cases,
    ],
)
def test_sums_updates_and_pairs(run, cases):
    assert run(judged(cases)) == []


def test_products_of_the_first_layer_are_kept(run):
    """By the fast kernels; the portable ones leave their place as it is."""
    cases = []
    for case, channels, products in layercases.kept_cases():
        cases.append(caseformat.judge(case, oracle))
        out = case.args[-1]
        kept = (1, *products) if run.keeps else (0, *range(channels))
        region = 8, 12 + 4 * channels
        looked_at = caseformat.judge(
            case.replaced(5, caseformat.Buf(out.data, out.kind, region)), oracle
        )
        looked_at.crcs[5] = caseformat.crc30(casegen.ints(kept).data)
        cases.append(looked_at)
    assert run(cases) == []


def test_networks_give_the_oracles_bits(run):
    assert run(judged_networks(20 * MORE)) == []


def test_bad_calls_are_refused_and_change_nothing(run):
    cases = [caseformat.judge(case, oracle) for case, _ in badcases.bad_cases(1)]
    assert run(cases) == []


def test_spoilt_calls_stay_inside_their_buffers(run):
    assert run(list(fuzzgen.fuzz_cases(4, 300 * MORE))) == []


def extreme_net(rng, kind):
    """Weights, inputs, masters at their ends; multipliers that saturate."""
    net = layercases.LayerNetwork(rng, (5, 5, 8), plain=False)
    net.weights = lambda count: bytes(rng.choice((127, 128, 129)) for _ in range(count))
    if kind == "conv":
        net.conv(0, 12, (3, 3), (1, 1), (1, 2, 2, 0))
    elif kind == "dw":
        net.dwconv(0, 1, (3, 3), (1, 1), (1, 1, 1, 1))
    else:
        net.dense(0, 9)
    net.pool(1, casegen.L.AVGPOOL, net.shapes[1][:2], (1, 1))
    net.first = 0
    return net.finish(trainable=2)


@pytest.mark.parametrize("kind", ["conv", "dw", "dense"])
def test_extremes(run, kind):
    cases = []
    for i in range(6 * MORE):
        rng = random.Random(f"{kind}-{i}")
        cases += casegen.net_cases(rng, extreme_net(rng, kind), layercases.FUNCTIONS)
    assert run([caseformat.judge(case, oracle) for case in cases]) == []
