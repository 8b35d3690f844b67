"""Networks drawn by hypothesis, so that failing ones become small, against the oracle."""

import random

import casegen
import netgen
import pytest
import targets
from caseformat import judge
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from microzo.net import check as plancheck
from microzo.net import words as L
from microzo_host import reference as oracle

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
structure = st.randoms(use_true_random=False)
contents = st.integers(0, 1 << 32)


@pytest.fixture(scope="module", params=("native", "native-baseline", "pykernels"))
def target(request):
    return targets.make(request.param)


def examples(target, count):
    slower = 5 if target.slow else 1
    return settings(
        max_examples=count * (10 if targets.FULL else 1) // slower,
        deadline=None,
        suppress_health_check=SLOW,
    )


def test_any_network_gives_the_oracles_bits(target):
    @examples(target, 150)
    @given(structure, contents)
    def check(rng, seed):
        content = random.Random(seed)
        net = netgen.random_net(rng, content)
        assert target.run([judge(case, oracle) for case in casegen.net_cases(content, net)]) == []

    check()


def test_any_tail_gives_the_oracles_bits(target):
    @examples(target, 80)
    @given(structure, contents)
    def check(rng, seed):
        content = random.Random(seed)
        net = netgen.tail_net(rng, content)
        assert target.run([judge(case, oracle) for case in casegen.tail_cases(content, net)]) == []

    check()


def test_any_plain_call_gives_the_oracles_bits(target):
    @examples(target, 150)
    @given(contents)
    def check(seed):
        assert (
            target.run([judge(case, oracle) for case in casegen.plain_cases(random.Random(seed))])
            == []
        )

    check()


def wide_net(content, k, widths):
    """A dense layer of k inputs with an extreme zero point."""
    net = netgen.Network(content, (1, 1, k), in_zp=content.choice((-128, 127)))
    net.dense(0, widths, logits=True)
    net.first = 0
    return net.finish(trainable=1)


@pytest.mark.parametrize("k", [1, 31, 32, 33, 128, 1023, 1024, 2000])
def test_long_rows(target, k):
    content = random.Random(k)
    for _ in range(1 if target.slow else 3):
        net = wide_net(content, k, 3)
        assert target.run([judge(case, oracle) for case in casegen.net_cases(content, net)]) == []


def test_sums_at_the_accumulator_bound(target):
    """Weights, inputs and bias all at one end and F as large as allowed."""
    for k, zp in ((16, -128), (500, 127), (4000, -128)):
        content = random.Random(k)
        net = netgen.Network(content, (1, 1, k), in_zp=zp)
        op = net.ops[net.dense(0, 2, logits=True) - 1]
        op.update(EPS_W=1, EPS_B=16, B_MAX=1 << 22, F=0)
        net.first = 0
        net.finish(trainable=2)
        o = L.op_base(0)
        net.plan[o + L.F] = plancheck.fraction_bits(net.plan, o)
        case = casegen.NetCases(content, net).probe()
        for sign in (1, -1):
            state = bytearray(net.plan[L.STATE_LEN])
            for i in range(2 * k):
                at = net.plan[o + L.MASTER_OFF] + 2 * i
                state[at : at + 2] = (sign * 32512).to_bytes(2, "little", signed=True)
            for i in range(2):
                at = net.plan[o + L.BIAS_OFF] + 4 * i
                state[at : at + 4] = (sign * (1 << 22)).to_bytes(4, "little", signed=True)
                at = net.plan[o + L.MS_OFF]
                state[at + 4 * i : at + 4 * i + 4] = (1 << 30).to_bytes(4, "little")
                state[at + 8 + i] = -14 & 255
            arena = (b"\x7f" if zp == -128 else b"\x80") * net.plan[L.ARENA_LEN]
            for mode in (0, 1):
                spoilt = case.replaced(2, casegen.Buf(bytes(state))).replaced(
                    3, casegen.Buf(arena, region=(0, k))
                )
                params = casegen.ints((0, 9, 0, mode, 3, 0, 1, 0))
                assert target.run([judge(spoilt.replaced(4, params), oracle)]) == []
