"""What several homes state holds in all of them: scratch sizes, limits, words that are ignored.

The table is native_modules/microzo/words.toml; the homes are the planner, the C kernels, the
pure-Python kernels and the oracle. The kernels are asked by calls, not read.
"""

import random
import tomllib
from array import array
from pathlib import Path

import netgen
import pytest
import targets

from microzo.net import arena as planner
from microzo.net import check as plancheck
from microzo.net import words as L
from microzo_host import reference as oracle
from microzo_host.model import fields

ROOT = Path(__file__).resolve().parents[2]
TABLE = tomllib.loads((ROOT / "native_modules/microzo/words.toml").read_text())
COUNT = 10 if targets.FULL else 1
CLASSES_TEXT, OPS_TEXT = "number of classes", "cut or altered"


@pytest.fixture(scope="module", params=("native", "pykernels", "oracle"))
def module(request):
    return oracle if request.param == "oracle" else targets.make(request.param).module


def scratch_of(plan, o):
    """Bytes by the table's formula."""
    formula = TABLE["scratch"].get(L.KIND_NAMES[plan[o + L.KIND]])
    k = planner.row_len(plan, o)
    sides = {name: plan[o + getattr(L, name)] for name in ("IN_W", "P_L", "P_R", "K_H")}
    return eval(formula, {"K": k, "K4": -(-k // 4) * 4, "max": max}, sides) if formula else 0


def random_layer(rng, kind):
    """A network of one operator with few outputs, so that Python's kernels are fast too."""
    k = rng.randint(1, 5), rng.randint(1, 5)
    pads = tuple(rng.randint(0, 3) for _ in range(4))
    out = rng.randint(1, 2), rng.randint(1, 2)
    h = max(1, k[0] + out[0] - 1 - pads[0] - pads[1])
    w = max(1, k[1] + out[1] - 1 - pads[2] - pads[3])
    if kind == L.DWCONV:
        w = rng.choice((w, w + 9))
        net = netgen.Network(rng, (h, w, rng.randint(1, 3)))
        net.dwconv(0, rng.randint(1, 2), k, (1, 1), pads)
    elif kind == L.CONV:
        net = netgen.Network(rng, (h, w, rng.randint(1, 24)))
        net.conv(0, rng.randint(1, 3), k, (1, 1), pads)
    else:
        net = netgen.Network(rng, (1, 1, rng.randint(1, 300)))
        net.dense(0, rng.randint(1, 3))
    return net.finish()


def forward(module, net, plan, state, arena):
    """(class, arena before the scratch), of all operators."""
    arena = bytearray(arena)
    result = module.forward(plan, bytes(net.blob), bytearray(state), arena, 0, len(net.ops), 0)
    return result, bytes(arena[: plan[L.SCRATCH_OFF]])


@pytest.mark.parametrize("kind", [L.CONV, L.DWCONV, L.DENSE])
def test_scratch_sizes(module, kind):
    rng, sizes = random.Random(kind), set()
    for _ in range(60 * COUNT):
        net = random_layer(rng, kind)
        plan, state, arena = net.plan, net.state(), net.arena()
        need = scratch_of(plan, L.op_base(0))
        assert plan[L.SCRATCH_LEN] == planner.scratch(plan, L.op_base(0)) == need
        forward(module, net, plan, state, arena)
        plan[L.SCRATCH_LEN] = need - 1
        with pytest.raises(ValueError):
            forward(module, net, plan, state, arena)
        sizes.add(need)
    assert len(sizes) > 10


def test_scratch_of_other_kinds():
    rng, kinds = random.Random(1), set()
    for _ in range(50):
        plan = netgen.random_net(rng).plan
        for o in planner.bases(plan):
            assert planner.scratch(plan, o) == scratch_of(plan, o)
            kinds.add(plan[o + L.KIND])
    assert kinds == set(range(1, len(L.KIND_NAMES)))


def test_no_other_scratch_is_needed(module):
    """Kinds without a formula run without scratch."""
    rng = random.Random(2)
    for make in (
        lambda net: net.pool(0, L.AVGPOOL, (2, 2), (1, 1)),
        lambda net: net.pool(0, L.MAXPOOL, (2, 2), (1, 1)),
        lambda net: net.add(0, None),
        lambda net: net.mul(0, None),
        lambda net: net.pad(0, (1, 0, 2, 1)),
        lambda net: net.mean(0, (2, 2), (1, 1)),
        lambda net: net.concat(0, 0),
        lambda net: net.lut(0),
    ):
        net = netgen.Network(rng, (3, 2, 3))
        make(net)
        net.finish()
        assert net.plan[L.SCRATCH_LEN] == 0
        forward(module, net, net.plan, net.state(), net.arena())


def header(n_ops, classes):
    plan = array("i", bytes(4 * L.op_base(n_ops)))
    for word, value in (
        (L.MAGIC, L.MAGIC_VALUE), (L.MAJOR, L.VERSION_MAJOR), (L.N_OPS, n_ops),
        (L.CLASSES, classes), (L.N_TENSORS, 2),
        (L.NET_IN_H, 1), (L.NET_IN_W, 1), (L.NET_IN_C, 1),
    ):  # fmt: skip
        plan[word] = value
    return plan


def loss(module, n_ops, classes):
    return module.loss(header(n_ops, classes), bytearray(4 * classes + 4), 0, bytearray(0))


def test_limits_of_the_kernels(module):
    for n_ops, classes in ((1, 1), (fields.MAX_OPS, 1), (1, fields.MAX_CLASSES)):
        loss(module, n_ops, classes)
    for n_ops, classes in ((0, 1), (fields.MAX_OPS + 1, 1), (1, 0), (1, fields.MAX_CLASSES + 1)):
        with pytest.raises(ValueError):
            loss(module, n_ops, classes)


@pytest.mark.parametrize(
    "n_ops, classes, text",
    [
        (0, 1, OPS_TEXT),
        (1, 1, None),
        (fields.MAX_OPS, 1, None),
        (fields.MAX_OPS + 1, 1, OPS_TEXT),
        (1, 0, CLASSES_TEXT),
        (1, fields.MAX_CLASSES, None),
        (1, fields.MAX_CLASSES + 1, CLASSES_TEXT),
    ],
)
def test_limits_of_a_file(n_ops, classes, text):
    """A plan within the limits is refused for what comes after them: it has no data."""
    with pytest.raises(ValueError, match=text or "data length"):
        plancheck.validate(header(n_ops, classes))


def test_room_for_products(module):
    net = netgen.Network(random.Random(3), (1, 1, 5))
    net.dense(0, 4, logits=True)
    net.finish(trainable=2)
    params = array("i", (0, 1, 0, 4, 7, 0, 1, 0))

    def probe(words):
        args = net.plan, bytes(net.blob), net.state(), net.arena()
        module.probe(*args, params, array("i", bytes(4 * words)))

    probe(L.KEPT + 8)
    with pytest.raises(ValueError):
        probe(L.KEPT + 7)


def verdict(plan):
    """What a loader says of a plan, "": good."""
    try:
        plancheck.validate(plan)
    except ValueError as error:
        return str(error)
    return ""


def kinds_of(text):
    text = text.replace("weighted", "CONV DWCONV DENSE")
    return L.KIND_NAMES[1:] if text == "all" else text.split()


def test_words_of_other_kinds_are_ignored(module):
    """Random values in spare words of the header and in words that an operator has not."""
    rng, kinds, verdicts = random.Random(4), set(), []
    for _ in range(40 * COUNT):
        net = netgen.random_net(rng, limit=5, channels=4)
        state, arena = net.state(), net.arena()
        spoilt = array("i", net.plan)
        for word in range(len(TABLE["header"]), L.HEADER_WORDS):
            spoilt[word] = rng.randint(-(1 << 31), (1 << 31) - 1)
        for o in planner.bases(spoilt):
            kind = L.KIND_NAMES[spoilt[o + L.KIND]]
            kinds.add(kind)
            own = {word for word, _, text, *_ in TABLE["operator"] if kind in kinds_of(text)}
            for word in set(range(L.OP_WORDS)) - own:
                spoilt[o + word] = rng.randint(-(1 << 31), (1 << 31) - 1)
        expected = forward(module, net, net.plan, state, arena)
        assert forward(module, net, spoilt, state, arena) == expected
        verdicts.append(verdict(net.plan))
        assert verdict(spoilt) == verdicts[-1]
    assert len(kinds) > 8 and verdicts.count("") > 10
