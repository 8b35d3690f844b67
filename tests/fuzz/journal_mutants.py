"""Journals that are altered, field by field, the check sums of header and records repaired."""

import json
import struct

import mutate
from journal_parts import join, split

RECIPE, STEP, VALUES = 1, 7, 8


def mutant(rng, raws):
    """An altered one of the journals; others lend it their records."""
    header, records = split(rng.choice(raws))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice((_recipe, _recipe, _recipe, _field, _payload, _order, _header))(
            rng, header, records, raws
        )
    # Rarely the header tells of another RECIPE, or a length stays a lie.
    raw = join(header, records, rng.random() < 0.95, lambda: rng.random() > 0.01)
    chance = rng.random()
    if chance < 0.05:
        return raw[: rng.randrange(len(raw))]
    if chance < 0.1:  # a torn tail
        kind, n = rng.randrange(10), rng.choice((0, 6, 65535, rng.randrange(65536)))
        return raw + struct.pack("<BBH", kind, 0, n) + rng.randbytes(rng.randrange(60))
    return raw


def _recipe(rng, header, records, raws):
    """The program of a RECIPE: values, keys, stages; rarely something that is none."""
    rec = rng.choice([rec for rec in records if rec[0] == RECIPE] or records or [bytearray(12)])
    program = _program(rec) or rng.choice(_programs(raws))
    chance = rng.random()
    if chance < 0.03:
        text = rng.choice(("[" * 30000, '{"a":' * 9000, "null", "", '"\\ud800"', "9" * 6000))
    elif chance < 0.2:
        _change_spec(rng, rng.choice(program["stages"]), raws)
        text = json.dumps(program)
    elif chance < 0.25:
        program["stages"].append(rng.choice(_programs(raws))["stages"][-1])
        text = json.dumps(program)
    else:
        text = json.dumps(mutate.tree(rng, program))
    rec[12:] = text.encode()[:65535]


def _change_spec(rng, spec, raws):
    """One setting of a stage is that of another stage, or near or far from what it was."""
    other = rng.choice(rng.choice(_programs(raws))["stages"])
    key = rng.choice(list(spec) + list(other))
    value = spec.get(key)
    if rng.random() < 0.4 and key in other:
        spec[key] = other[key]
    elif isinstance(value, int):
        spec[key] = rng.choice((value + rng.choice((-1, 1)), *mutate.EXTREMES))
    elif isinstance(value, list) and value:
        spec[key] = rng.choice((value[1:], value * 2, value + [rng.randint(-2, 9)], value[::-1]))
    else:
        spec[key] = rng.choice(mutate.ODD)


def _programs(raws):
    return [_program(split(raw)[1][0]) for raw in raws]


def _program(rec):
    """What a RECIPE holds; None if an alteration before this one left no list of stages."""
    try:
        program = json.loads(bytes(rec[12:]))
        stages = program["stages"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    sound = isinstance(stages, list) and stages and all(isinstance(s, dict) for s in stages)
    return program if sound else None


def _field(rng, header, records, raws):
    """Type, flags, step, board or aux of a record."""
    if records:
        rec = rng.choice(records)
        at, form = rng.choice(((0, "B"), (1, "B"), (4, "<I"), (4, "<I"), (8, "<H"), (10, "<H")))
        old, bits = struct.unpack_from(form, rec, at)[0], 8 * struct.calcsize(form)
        value = rng.choice((old + rng.choice((-1, 1)), rng.randrange(10), *mutate.EXTREMES))
        struct.pack_into(form, rec, at, value & (1 << bits) - 1)


def _payload(rng, header, records, raws):
    """Coefficients, indices, values, scores: words of a payload, or its length."""
    rec = rng.choice([rec for rec in records if len(rec) > 12 and rec[0] != RECIPE] or [None])
    if rec is None:
        return
    chance = rng.random()
    if chance < 0.2:
        del rec[12 + rng.randrange(len(rec) - 12) :]
    elif chance < 0.35:
        rec += rng.randbytes(rng.choice((1, 2, 4, 300, 65535 - len(rec))))
    elif rec[0] == VALUES or rng.random() < 0.5:
        mutate.words(rng, rec, 12, len(rec))
    else:
        rec[rng.randrange(12, len(rec))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))


def _order(rng, header, records, raws):
    """A record goes, comes twice, changes places, or comes from another journal."""
    if not records:
        return
    at, other = rng.randrange(len(records)), rng.randrange(len(records))
    chance = rng.randrange(5)
    if chance == 0:
        del records[at]
    elif chance == 1:
        records.insert(other, bytearray(records[at]))
    elif chance == 2:
        records[at], records[other] = records[other], records[at]
    elif chance == 3:
        records.insert(at, bytearray(rng.choice(split(rng.choice(raws))[1])))
    else:
        del records[at:]


def _header(rng, header, records, raws):
    """Seed, board, check sums, length of the state, version."""
    if rng.random() < 0.3:
        header[rng.randrange(8, len(header))] = rng.randrange(256)
    else:
        mutate.words(rng, header, 12, len(header))
