"""Contract: a declaration is whole, and check() says what is wrong in one sentence."""

import declared
import pytest

KINDS = list(declared.methods())
ROWS = [(kind, row) for kind in KINDS for row in declared.rows(kind)]
IDS = [f"{kind}-{row[0]}" for kind, row in ROWS]


@pytest.mark.parametrize("kind", KINDS)
def test_defaults_pass(kind):
    method = declared.methods()[kind]
    method.check(method.defaults())
    method.check(declared.short(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_declared_once(kind):
    names = [row[0] for row in declared.rows(kind)]
    assert len(names) == len(set(names))
    assert "kind" not in names


@pytest.mark.parametrize(("kind", "row"), ROWS, ids=IDS)
def test_the_default_is_one_of_the_values(kind, row):
    if isinstance(row[1], tuple):
        assert set(row[1]) <= set(row[2])
    elif isinstance(row[1], str):
        assert row[1] in row[2]
    else:
        assert row[2] <= row[1] <= row[3]


def outside(row):
    """Values that a row must refuse."""
    if isinstance(row[1], tuple):
        return ((), ("nothing",), (row[2][0], "nothing"), row[2][0], 1, None)
    if isinstance(row[1], str):
        return ("nothing", 1, None, (row[2][0],))
    return (row[2] - 1, row[3] + 1, float(row[1]), str(row[1]), None)


@pytest.mark.parametrize(("kind", "row"), ROWS, ids=IDS)
def test_values_outside_are_refused_by_name(kind, row):
    for value in outside(row):
        said = declared.refusal(kind, {row[0]: value})
        assert said.startswith(f"stage {kind}: {row[0]} is "), (value, said)
        assert "\n" not in said


@pytest.mark.parametrize(("kind", "row"), ROWS, ids=IDS)
def test_each_value_passes(kind, row):
    """Alone, or beside others that it needs."""
    for value in declared.values(row):
        assert declared.completed(kind, {row[0]: value})[row[0]] == value


@pytest.mark.parametrize("kind", KINDS)
def test_missing_and_unknown_settings(kind):
    method = declared.methods()[kind]
    for row in method.settings:
        stage = method.defaults()
        del stage[row[0]]
        with pytest.raises(ValueError, match=f"stage {kind} has no '{row[0]}'"):
            method.check(stage)
    with pytest.raises(ValueError, match=f"stage {kind} has no setting 'nothing': there are "):
        method.check(dict(method.defaults(), nothing=1))
