"""device/microzo/plan.py and plancheck.py: sizes, the arena by brute force, what is refused."""

import random
from array import array

import plan_nets
import pytest

from microzo.net import arena as planner
from microzo.net import check as plancheck
from microzo.net import words as L

SEEDS = range(150)


def op(plan, i, word):
    return plan[L.op_base(i) + word]


def tensors(plan):
    """{tensor: (offset, size)} from the operators' words."""
    places = {}
    for i in range(plan[L.N_OPS]):
        o = L.op_base(i)
        places[plan[o + L.OUT]] = plan[o + L.OUT_OFF], planner.out_size(plan, o)
        places.setdefault(plan[o + L.IN], (plan[o + L.IN_OFF], planner.in_size(plan, o)))
    return places


def execute(plan, first, pin_outputs):
    """Plays the network; fails where a tensor that is still needed was overwritten."""
    places = tensors(plan)
    owner = {}

    def write(t):
        at, size = places[t]
        assert at % 4 == 0 and at + size <= plan[L.LOGITS_OFF]
        owner.update(dict.fromkeys(range(at, at + size), t))

    def check(t):
        at, size = places[t]
        assert all(owner[b] == t for b in range(at, at + size)), f"tensor {t} was overwritten"

    made, n = [-1] * plan[L.N_TENSORS], plan[L.N_OPS]
    write(plan[L.IN_TENSOR])
    for i in range(n):
        inputs = [t for t in (op(plan, i, L.IN), op(plan, i, L.IN2)) if t >= 0]
        if op(plan, i, L.KIND) == L.CONV:  # it may write to its room at any time
            at, size = op(plan, i, L.IN2_OFF), op(plan, i, L.ROOM_LEN)
            assert at + size <= plan[L.LOGITS_OFF]
            owner.update(dict.fromkeys(range(at, at + size)))
        write(op(plan, i, L.OUT))
        made[op(plan, i, L.OUT)] = i
        for t in inputs:
            check(t)
    check(plan[L.OUT_TENSOR])
    for i in pin_outputs:
        check(op(plan, i, L.OUT))
    read = {t for i in range(first, n) for t in (op(plan, i, L.IN), op(plan, i, L.IN2)) if t >= 0}
    read |= {op(plan, i, L.OUT) for i in pin_outputs}
    pinned = {t for t in read if made[t] < first}
    if first == 0:
        pinned.add(plan[L.IN_TENSOR])
    for t in pinned:
        check(t)
    return {t: places[t] for t in pinned}


@pytest.mark.parametrize("seed", SEEDS)
def test_no_live_tensor_is_overwritten(seed):
    rng = random.Random(seed)
    plan = plan_nets.random_plan(rng)
    n = plan[L.N_OPS]
    for first in range(n):
        pins = tuple(i for i in range(n) if rng.random() < 0.2)
        length = planner.layout(plan, first, pins)
        pinned = execute(plan, first, pins)
        # pinned tensors fill arena[0:PIN_LEN] without gaps
        ends = sorted((at, at + planner.align(size, 4)) for at, size in pinned.values())
        assert [a for a, _ in ends] == [0, *(b for _, b in ends[:-1])]
        assert plan[L.PIN_LEN] == ends[-1][1]
        assert plan[L.SCRATCH_OFF] == plan[L.LOGITS_OFF] + 4 * plan[L.CLASSES]
        assert plan[L.SCRATCH_LEN] == max(planner.scratch(plan, o) for o in planner.bases(plan))
        assert length == plan[L.ARENA_LEN] == plan[L.SCRATCH_OFF] + plan[L.SCRATCH_LEN]


def test_a_chain_needs_two_tensors_at_a_time():
    plan = plan_nets.chain((8, 8, 4), [8, 8, 8, 8])
    planner.layout(plan)
    # the input is pinned (256 bytes), and two of the four outputs (512 bytes) are live together
    assert plan[L.LOGITS_OFF] == 256 + 2 * 512


def test_pin_outputs_costs_memory():
    plan = plan_nets.chain((8, 8, 4), [8, 8, 8, 8])
    free = planner.layout(plan)
    assert planner.layout(plan, 0, (0,)) == free + 512


@pytest.mark.parametrize("first", [-1, 4])
def test_layout_refuses_an_operator_that_is_not_there(first):
    plan = plan_nets.chain((8, 8, 4), [8, 8, 8, 8])
    before = list(plan)
    with pytest.raises(ValueError, match="does not exist"):
        planner.layout(plan, first)
    with pytest.raises(ValueError, match="does not exist"):
        planner.layout(plan, 0, (first,))
    assert list(plan) == before


def test_sizes_of_operators():
    plan = plan_nets.every_kind()
    got = [
        (
            L.KIND_NAMES[plan[o]],
            planner.out_size(plan, o),
            planner.row_len(plan, o),
            planner.macs(plan, o),
        )
        for o in planner.bases(plan)
    ]
    assert got == [
        ("CONV", 6 * 6 * 8, 27, 6 * 6 * 8 * 27),
        ("DWCONV", 6 * 6 * 8, 9, 6 * 6 * 8 * 9),
        ("ADD", 288, 0, 288),
        ("PAD", 8 * 7 * 8, 0, 448),
        ("MAXPOOL", 4 * 3 * 8, 0, 96 * 4),
        ("AVGPOOL", 8, 0, 8 * 12),
        ("DENSE", 10, 8, 80),
    ]
    scratch = [planner.scratch(plan, o) for o in planner.bases(plan)]
    assert scratch == [3072, 32 * 9 + 8 * 8 * 3 + 128, 0, 0, 0, 0, 12 * 8 + 128]
    wide = plan_nets.chain((4, 4, 64), [8])
    assert planner.scratch(wide, L.op_base(0)) == 22 * 576 + 128


def test_state():
    plan = plan_nets.every_kind()
    length = planner.place_state(
        plan, [(6, L.WEIGHTS | L.BIASES), (0, L.BIASES | L.MULTIPLIERS), (6, L.MULTIPLIERS)]
    )
    words = (L.MASTER_OFF, L.BIAS_OFF, L.MS_OFF)
    assert [op(plan, 0, w) for w in words] == [-1, 0, 32]
    # 5 * 8 = 40 bytes of multipliers and shifts; 2 * 80 masters; 4 * 10 biases; 5 * 10 -> 56
    assert [op(plan, 6, w) for w in words] == [72, 232, 272]
    assert length == plan[L.STATE_LEN] == 328
    assert all(op(plan, i, w) == -1 for i in range(1, 6) for w in words)
    assert planner.place_state(plan, ()) == 0
    assert op(plan, 6, L.MASTER_OFF) == -1
    assert planner.place_state(plan, [(1, 0)]) == 0


@pytest.mark.parametrize(
    "selection,message",
    [((2, 1), "operator 2 (ADD) has nothing to train"), ((7, 1), "operator 7 does")],
)
def test_state_refuses(selection, message):
    plan = plan_nets.every_kind()
    with pytest.raises(ValueError) as e:
        planner.place_state(plan, [selection])
    assert message in str(e.value)


def test_runtime_words_are_not_part_of_the_file():
    plan = plan_nets.every_kind()
    before = list(plan)
    planner.layout(plan, 1, (0,))
    planner.place_state(plan, [(0, 7)])
    assert list(plan) != before
    planner.clear_runtime(plan)
    assert list(plan) == before


def test_fraction_bits_are_the_largest_that_fit():
    rng = random.Random(4)
    for _ in range(300):
        plan = plan_nets.chain((1, 1, rng.choice((1, 9, 100, 1024, 5000))), [2], kernel=1)
        o = L.op_base(0)
        zp, eps, b_max = (
            rng.randint(-128, 127),
            rng.choice((0, 1, 2, 8, 127)),
            rng.choice((0, 5000, 1 << 22)),
        )
        plan[o + L.IN_ZP], plan[o + L.EPS_W], plan[o + L.B_MAX] = zp, eps, b_max
        k, swing = plan[o + L.IN_C], max(127 - zp, zp + 128)
        good = [
            f for f in range(9)
            if (127 * 2**f + eps * 2**f) * swing * k + b_max * 2**f < 2**30
            and (127 + eps) * 2**f < 2**15
        ]  # fmt: skip
        assert plancheck.fraction_bits(plan, o) == max(good, default=0)
        assert plancheck.fits(plan, o, 0) == bool(good)


def test_valid_plans_pass():
    for seed in SEEDS:
        plancheck.validate(plan_nets.random_plan(random.Random(seed)))
    plancheck.validate(plan_nets.every_kind())


def arrays(plan):
    """[(operator, word of the offset, its value)] of a plan in which every array is apart."""
    places = []
    for i, o in enumerate(planner.bases(plan)):
        words = range(L.W_OFF, L.S_OFF + 1) if planner.is_weighted(plan, o) else ()
        places += [(i, word, plan[o + word]) for word in words]
    return places


@pytest.mark.parametrize("distance", [0, 4, -4])
def test_arrays_that_share_a_byte_are_refused(distance):
    """Every array moved onto every other one, or 4 bytes away from there; they have 8 or more."""
    plan = plan_nets.every_kind()
    for i, word, _ in arrays(plan):
        o = L.op_base(i)
        for j, other, place in arrays(plan):
            if (i, word) == (j, other):
                continue
            moved = array("i", plan)
            moved[o + word] = place + distance
            with pytest.raises(ValueError, match="two tensors of the model share the byte.*, con"):
                plancheck.validate(moved)


def test_the_table_and_the_covariance_share_no_byte_with_others():
    plan = plan_nets.every_kind()
    for word, place in ((L.TABLE_OFF, plan[L.op_base(0) + L.W_OFF]), (L.COV_OFF, 252)):
        moved = array("i", plan)
        moved[word] = place
        with pytest.raises(ValueError, match="two tensors of the model share the byte"):
            plancheck.validate(moved)


def test_the_limit_of_activations():
    """64 tensors of 2^20 values and their input are too many; 62 are not."""
    for count, fine in ((62, True), (64, False)):
        plan = plan_nets.Plan((1024, 1024, 1))
        t = 0
        for _ in range(count):
            t = plan.add(L.MAXPOOL, t)
        plan.add(L.AVGPOOL, t, k=(1024, 1024))
        plan = plan.made()
        if fine:
            plancheck.validate(plan)
            assert planner.layout(plan, 0, range(count)) <= 1 << 26
        else:
            needed = 65 * 2**20 + 8  # and one class: a value, a logit
            with pytest.raises(ValueError, match=f"activations take {needed} bytes.*smaller"):
                plancheck.validate(plan)


def test_the_state_of_a_model_has_small_offsets():
    """16 layers of 4095^2 weights: 2^29 bytes, but for a few; 40 are more than 2^30."""
    for count, fine in ((16, True), (40, False)):
        plan = plan_nets.Plan((1, 1, 4095))
        t = 0
        for _ in range(count):
            t = plan.add(L.CONV, t, 4095)
        plan.add(L.DENSE, t, 10)
        plan = plan.made()
        everything = [(i, 7) for i in range(count + 1)]
        if fine:
            plancheck.validate(plan)
            assert planner.place_state(plan, everything) < 1 << 30
        else:
            with pytest.raises(ValueError, match="trainable values take 2\\^30 bytes.*, use a "):
                plancheck.validate(plan)


H, OP = "header", "operator"
REFUSED = [
    (H, L.MAGIC, 5, "no microzo model"), (H, L.MAJOR, 2, "format version 2"),
    (H, L.N_OPS, 0, "cut or altered"),
    (H, L.N_OPS, 6, "cut or altered"), (H, L.N_OPS, 256, "cut or altered"),
    (H, L.N_TENSORS, 257, "number of tensors"),
    (H, L.NET_IN_H, 0, "input shape"), (H, L.NET_IN_C, -3, "input shape"),
    (H, L.CLASSES, 1025, "number of classes"),
    (H, L.CLASSES, 9, "does not write the 9 logits"), (H, L.IN_TENSOR, 99, "input tensor"),
    (H, L.OUT_TENSOR, 1, "does not write"),
    (H, L.TABLE_OFF, -4, "input table"), (H, L.TABLE_OFF, 1 << 30, "input table"),
    (H, L.BLOB_LEN, 100, "data length"),
    (H, L.LOGIT_MULT, 77, "logits have multiplier 77"), (H, L.LOGIT_MULT, 0, "needs either"),
    (H, L.NET_IN_ZP, 128, "zero point"),
    (0, L.KIND, 12, "operator 0 (kind 12) is unknown, update microzo"),
    (0, L.IN_H, 0, "operator 0 (CONV): shape is 0"),
    (0, L.IN_H, 65535, "operator 0 (CONV) reads 1179630 values"), (0, L.OUT_W, 7, "output size 7"),
    (0, L.K_H, 0, "kernel or stride"),
    (0, L.S_W, 65536, "kernel or stride"), (0, L.S_W, 256, "output size"),
    (0, L.DIL_W, -1, "dilation is -1"), (0, L.DIL_H, 9, "output size"),
    (6, L.DIL_H, -1, "dilation"),
    (0, L.ABS_SUM, 5, "frozen and perturbed"), (0, L.P_T, -1, "padding is -1"),
    (0, L.IN_ZP, 200, "zero point"),
    (0, L.ACT_MIN, 127, "clamp range is empty"), (0, L.W_OFF, -4, "points outside"),
    (0, L.W_OFF, 2, "no multiple of 4"),
    (0, L.M_OFF, 1 << 29, "points outside"), (0, L.STAT_OFF, 1 << 29, "points outside"),
    (0, L.F, 9, "F is 9"),
    (0, L.EPS_W, 128, "weight perturbation"), (0, L.EPS_B, 17, "bias perturbation"),
    (0, L.B_MAX, -1, "largest bias"),
    (0, L.B_MAX, (1 << 30) - 1, "operator 0 (CONV) can overflow 32-bit sums (27 inputs"),
    (0, L.FLAGS, 4, "flags that its kind does not know"),
    (0, L.FLAGS, 1, "only the last operator"), (0, L.TID, -1, "stream id"),
    (0, L.IN, 5, "reads tensor 5"),
    (0, L.IN2, 0, "reads 0 values"), (0, L.OUT, 0, "writes tensor 0"),
    (0, L.OUT, 30, "writes tensor 30"),
    (1, L.OUT_C, 12, "multiple of its input channels"),
    (2, L.IN2, 7, "operator 2 (ADD) reads tensor 7"),
    (2, L.MULT1, 5, "multiplier 5"), (2, L.SHIFT2, 1, "shift 1"), (2, L.K_H, 2, "ADD"),
    (2, L.OUT_C, 9, "changes the number"),
    (3, L.S_H, 2, "PAD"), (4, L.P_L, 2, "MAXPOOL"),
    (6, L.IN_C, 9, "operator 6 (DENSE) reads 9 values"),
    (6, L.P_B, 1, "DENSE"),
]  # fmt: skip


@pytest.mark.parametrize("where,word,value,message", REFUSED)
def test_altered_plans_are_refused(where, word, value, message):
    plan = plan_nets.every_kind()
    plan[word if where == H else L.op_base(where) + word] = value
    with pytest.raises(ValueError) as e:
        plancheck.validate(plan)
    text = str(e.value)
    assert message in text
    assert "\n" not in text and ", " in text  # one sentence, with its cure


@pytest.fixture
def with_covariance():
    """A plan whose first operator has 27 weights a channel, its covariance at the end."""
    plan = plan_nets.every_kind()
    plan[L.COV_OFF] = plan[L.BLOB_LEN] - 4 * 27 * 28 // 2
    plancheck.validate(plan)
    return plan


@pytest.mark.parametrize("change", [4, 2, -(1 << 30)])
def test_a_covariance_outside_the_data_is_refused(with_covariance, change):
    with_covariance[L.COV_OFF] += change
    with pytest.raises(ValueError, match="covariance of patches points outside the data.*, conv"):
        plancheck.validate(with_covariance)


def test_a_covariance_at_no_multiple_of_4_is_refused(with_covariance):
    with_covariance[L.COV_OFF] -= 2
    with pytest.raises(ValueError, match="no multiple of 4"):
        plancheck.validate(with_covariance)


@pytest.mark.parametrize(
    "shape,kernel,fine",
    [((4, 4, 64), 1, True), ((4, 4, 65), 1, False), ((4, 4, 2), 1, True), ((4, 4, 1), 1, False),
     ((8, 8, 1), 7, True), ((6, 6, 1), 7, False), ((6, 7, 1), 7, False), ((7, 6, 1), 7, False)],
)  # fmt: skip
def test_which_convolutions_have_a_covariance(shape, kernel, fine):
    plan = plan_nets.chain(shape, [4], kernel)
    plancheck.validate(plan)
    plan[L.COV_OFF] = 256
    if fine:
        plancheck.validate(plan)
    else:
        with pytest.raises(ValueError, match=r"0 \(CONV\) cannot have a covariance.*, conv"):
            plancheck.validate(plan)


def test_other_operators_have_no_covariance():
    net = plan_nets.Plan((4, 4, 1))
    net.add(L.DWCONV, 0, 2, (3, 3))
    for plan in (net.made(), plan_nets.imported()):
        plancheck.validate(plan)
        plan[L.COV_OFF] = 256
        with pytest.raises(ValueError, match=r"\((DWCONV|MUL)\) cannot have a covariance"):
            plancheck.validate(plan)


IMPORTED = [
    (0, L.FLAGS, 1, "MUL) has flags"), (0, L.W_OFF, 1 << 30, "constant lies outside"),
    (0, L.MULT, 5, "multiplier 5"), (0, L.IN2, 6, "reads tensor 6"), (1, L.W_OFF, -4, "constant"),
    (1, L.P_T, 1, "LUT"), (2, L.OUT_C, 4, "reads 0 values"), (2, L.OUT_H, 7, "reads"),
    (2, L.IN2, -1, "reads tensor -1"), (3, L.MULT, 1 << 28, "multiplier"), (3, L.P_L, 1, "MEAN"),
    (3, L.OUT_C, 5, "MEAN) changes the number"),
]  # fmt: skip


@pytest.mark.parametrize("where,word,value,message", IMPORTED)
def test_altered_plans_of_imported_graphs_are_refused(where, word, value, message):
    plan = plan_nets.imported()
    plancheck.validate(plan)
    plan[L.op_base(where) + word] = value
    with pytest.raises(ValueError) as e:
        plancheck.validate(plan)
    assert message in str(e.value)


def test_sizes_of_imported_operators():
    plan = plan_nets.imported()
    got = [(L.KIND_NAMES[plan[o]], planner.out_size(plan, o)) for o in planner.bases(plan)]
    assert got == [("MUL", 144), ("LUT", 144), ("CONCAT", 288), ("MEAN", 8), ("DENSE", 10)]
    assert all(planner.scratch(plan, o) == 0 for o in list(planner.bases(plan))[:4])
    planner.layout(plan)
    execute(plan, 0, ())


def test_huge_tensors_are_refused():
    plan = plan_nets.every_kind()
    plan[L.NET_IN_H] = plan[L.NET_IN_W] = 60000
    with pytest.raises(ValueError, match="2\\^24 values, use smaller images"):
        plancheck.validate(plan)


@pytest.mark.parametrize("length", [0, 1, 31, 32, 79, 80 + 48])
def test_cut_plans_are_refused(length):
    with pytest.raises(ValueError):
        plancheck.validate(array("i", plan_nets.every_kind()[:length]))


def test_a_random_word_never_gives_another_error():
    """Any word, any value: a ValueError or a plan whose arena can be laid out."""
    rng = random.Random(8)
    base = plan_nets.every_kind()
    values = (0, 1, -1, 2, 255, 65536, 1 << 30, 0x7FFFFFFF, -(1 << 31))
    for _ in range(4000):
        plan = array("i", base)
        for _ in range(rng.randint(1, 2)):
            plan[rng.randrange(len(plan))] = rng.choice((*values, rng.randint(-100, 400)))
        try:
            plancheck.validate(plan)
        except ValueError:
            continue
        planner.layout(plan)
        execute(plan, 0, ())
