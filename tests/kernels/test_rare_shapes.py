"""What random small networks do not have: long windows, and layers that stay as they are."""

import random

import casegen
import netgen
import pytest
import targets
from caseformat import judge

from microzo.net import words as L
from microzo_host import reference as oracle


@pytest.fixture(scope="module", params=("native", "pykernels"))
def target(request):
    return targets.make(request.param)


def judged(net, content):
    net.first = 0
    net.finish(trainable=0)
    return [judge(case, oracle) for case in casegen.net_cases(content, net)]


@pytest.mark.parametrize("kind", ["MEAN", "AVGPOOL", "MAXPOOL"])
@pytest.mark.parametrize("length", [256, 700, 1009])
def test_pools_over_more_than_255_steps(target, kind, length):
    content = random.Random(length)
    net = netgen.Network(content, (1, length, 3))
    if kind == "MEAN":
        net.mean(0, (1, length), (1, length))
    else:
        net.pool(0, getattr(L, kind), (1, length), (1, length))
    assert target.run(judged(net, content)) == []


@pytest.mark.parametrize("dilation", [1, 130, 299])
def test_long_kernels_strides_and_pads(target, dilation):
    content = random.Random(dilation)
    net = netgen.Network(content, (1, 900, 1))
    k = 300 if dilation == 1 else 3
    net.conv(0, 3, (1, k), (1, 280), (0, 0, 270, 0), d=(1, dilation))
    net.dwconv(1, 1, (1, 2), (1, 1), (0, 0, 0, 0))
    assert target.run(judged(net, content)) == []


BOARDS = [p for p in targets.params() if p.marks and "pykernels" not in p.values[0]]


@pytest.mark.parametrize("name", ["native", "pykernels", *BOARDS])
@pytest.mark.parametrize(
    ("shape", "stride", "pads"),
    [((1, 2, 8), (1, 2), (0, 0, 0, 2)), ((2, 1, 4), (2, 1), (0, 2, 0, 0))],
    ids=["right", "bottom"],
)
def test_strides_of_1x1_kernels_that_keep_the_size(name, shape, stride, pads):
    """A pad after the image makes up for what the stride leaves out."""
    cases = []
    for seed in range(8):  # some clamp the outputs to one value, or start after the layer
        content = random.Random(seed)
        net = netgen.Network(content, shape)
        net.conv(0, 8, (1, 1), stride, pads)
        assert net.shapes[1] == (*shape[:2], 8)
        net.dense(1, 3)
        cases += judged(net, content)
    assert targets.make(name).run(cases) == []


def frozen(content, k, weight, zp=-128):
    """A dense layer with more inputs than sums of any weights allow."""
    net = netgen.Network(content, (1, 1, k), in_zp=zp)
    words = net.parameters(L.DENSE, 1, 2, zp, logits=True)
    rows = [[content.choice((-weight, 0, weight)) for _ in range(k)] for _ in range(2)]
    words.update(EPS_W=0, EPS_B=0, F=0, ABS_SUM=max(sum(map(abs, row)) for row in rows))
    words["W_OFF"] = net.put(bytes(v & 255 for row in rows for v in row))
    net.emit(L.DENSE, 0, (1, 1, 2), **words)
    return net


@pytest.mark.parametrize("zp", [-128, 127, 0])
def test_a_layer_that_is_too_wide_to_train_runs(target, zp):
    content = random.Random(zp)
    k = 40000 if not target.slow else 34000
    assert target.run(judged(frozen(content, k, 60, zp), content)) == []


def test_a_frozen_layer_has_no_place_in_the_state():
    content = random.Random(5)
    net = frozen(content, 300, 60)
    net.first = 0
    net.finish(trainable=2)
    plan, blob, state, arena = net.plan, bytes(net.blob), net.state(), net.arena()
    with pytest.raises(ValueError, match="overflow"):
        oracle.forward(plan, blob, state, arena, 0, 1, 0)
