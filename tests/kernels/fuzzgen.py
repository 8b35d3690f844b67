"""Calls spoilt at random: they stay inside their buffers, or raise and change nothing."""

import random
import struct

import casegen
import netgen
from caseformat import ANY, ARRAYS, BYTEARRAY, GUARDED, READ_ONLY, Alias, Buf, Case

from microzo.net import words as L

EXTREMES = (
    0,
    1,
    -1,
    2,
    3,
    4,
    7,
    255,
    256,
    65535,
    65536,
    1 << 24,
    1 << 30,
    -(1 << 30),
    0x7FFFFFFF,
    -0x7FFFFFFF,
    -(1 << 31),
)
INTS = (*EXTREMES[:-1], 5, 9, 10, 31, 32, 63, 1 << 31, -(1 << 31), 1 << 40)


def extreme(rng, old):
    return rng.choice(
        (rng.choice(EXTREMES), old + rng.choice((-4, -2, -1, 1, 2, 4)), rng.randint(-40, 400))
    )


# words that, changed, leave the value open: multipliers are read from anywhere, parts overlap
OPEN = [L.KIND, L.FLAGS, L.IN_OFF, L.IN2_OFF, L.OUT_OFF, L.OUT_C, L.M_OFF, L.S_OFF, L.L_OFF]
OPEN += [L.LS_OFF, L.MASTER_OFF, L.BIAS_OFF, L.MS_OFF]
OPEN_HEADER = [L.LOGITS_OFF]


def is_open(i):
    """Whether word i of a plan is in OPEN or OPEN_HEADER."""
    return i in OPEN_HEADER or i >= L.HEADER_WORDS and (i - L.HEADER_WORDS) % L.OP_WORDS in OPEN


def spoil_words(rng, buf, spare=None):
    """One to three int32 words of a buffer changed, none with spare(index)."""
    data = bytearray(buf.data)
    count = len(data) // 4
    for _ in range(rng.choice((1, 1, 2, 3)) if count else 0):
        i = rng.randrange(count)
        if spare and spare(i):
            continue
        value = extreme(rng, struct.unpack_from("<i", data, 4 * i)[0])
        struct.pack_into("<i", data, 4 * i, max(-(1 << 31), min(0x7FFFFFFF, value)))
    return Buf(bytes(data), buf.kind)


def spoil_data(rng, buf):
    """Random content, often all bits set."""
    fill = rng.choice((b"\xff", b"\x7f", b"\x80", b"\0"))
    data = rng.randbytes(len(buf.data)) if rng.random() < 0.5 else fill * len(buf.data)
    return Buf(data, buf.kind)


def spoil_length(rng, buf):
    length = rng.choice(
        (
            0,
            1,
            3,
            len(buf.data) - 1,
            len(buf.data) + rng.randint(1, 9),
            rng.randint(0, len(buf.data)),
        )
    )
    return Buf(
        (buf.data + bytes(9))[: max(0, length)], GUARDED if buf.kind in ARRAYS else buf.kind
    )


def spoil_kind(rng, buf):
    kinds = [GUARDED, BYTEARRAY, READ_ONLY, "b"]
    kinds += [kind for kind, size in (("h", 2), ("i", 4), ("q", 8)) if len(buf.data) % size == 0]
    return Buf(buf.data, rng.choice(kinds))


def spoil_arg(rng, case, i, words):
    """A new value for argument i; words: chance that a buffer's int32 words are what changes."""
    arg = case.args[i]
    if not isinstance(arg, Buf):
        return rng.choice((rng.choice(INTS), None, 1.5)) if not isinstance(arg, Alias) else arg
    if rng.random() < words:
        return spoil_words(rng, arg)
    kind = rng.choice((spoil_data, spoil_length, spoil_kind, None))
    if kind is None:
        others = [j for j in range(i) if isinstance(case.args[j], Buf)]
        return Alias(rng.choice(others)) if others else arg
    return kind(rng, arg)


def fuzzed(rng, case):
    """A spoilt copy of a good case."""
    case = Case(case.function, list(case.args), ANY)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if case.args:
            # mostly the plan: there is the most to get wrong
            i = 0 if rng.random() < 0.5 else rng.randrange(len(case.args))
            case.args[i] = spoil_arg(rng, case, i, 0.9 if i == 0 else 0.3)
    return case


def plan_fuzzed(rng, case):
    """A copy with one to three plan words changed; None if the call has no plan."""
    if (
        not case.args
        or not isinstance(case.args[0], Buf)
        or len(case.args[0].data) < 4 * L.HEADER_WORDS
    ):
        return None
    if case.function == "probe" and len(case.args[5].data) > 8:  # products of another plan
        data = case.args[5].data
        case = case.replaced(5, Buf(data[:8] + bytes(4) + data[12:], region=(0, 8)))
    return case.replaced(0, _without_rooms(spoil_words(rng, case.args[0], is_open)))


def _without_rooms(buf):
    """A CONV may write to its room, which the oracle leaves alone."""
    words = struct.unpack_from(f"<{len(buf.data) // 4}i", buf.data)
    data = bytearray(buf.data)
    for o in range(L.HEADER_WORDS, len(words) - L.OP_WORDS + 1, L.OP_WORDS):
        if words[o + L.KIND] == L.CONV:
            struct.pack_into("<i", data, 4 * (o + L.ROOM_LEN), 0)
    return Buf(bytes(data), buf.kind)


def sources(seed):
    """Endless good cases of small networks, every network's cases in one list."""
    rng = random.Random(seed)
    while True:
        cases = casegen.net_cases(rng, netgen.random_net(rng, limit=6, channels=5))
        cases += casegen.tail_cases(rng, netgen.tail_net(rng))
        yield rng, cases + list(casegen.plain_cases(rng))


def fuzz_cases(seed, count, per_network=150):
    for rng, cases in sources(seed):
        for _ in range(min(count, per_network)):
            yield fuzzed(rng, rng.choice(cases))
        count -= per_network
        if count <= 0:
            return


def plan_cases(seed, count, per_network=60):
    """Unjudged calls with an altered plan. A target may check more than the oracle (operators it
    does not run), not less.
    """
    for rng, cases in sources(seed):
        made = filter(
            None, (plan_fuzzed(rng, rng.choice(cases)) for _ in range(min(count, per_network)))
        )
        yield from made
        count -= per_network
        if count <= 0:
            return
