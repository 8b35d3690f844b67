"""Contract: settings go together, or check() says why not."""

import os
import random
import re

import declared
import pytest
import runs

FULL = bool(os.environ.get("MICROZO_FULL"))  # otherwise as many as QUICK, drawn by a seed
QUICK = 25
WHY = re.compile(r": | needs? | at most |, which ")


def split(kind):
    """(pairs that run, pairs that are refused)."""
    both = [], []
    for pair in declared.pairs(kind):
        both[bool(declared.refusal(kind, pair.changes))].append(pair)
    return both


KINDS = [kind for kind in declared.methods() if declared.methods()[kind].options]
RUNNING = [pair for kind in KINDS for pair in split(kind)[0]]
DRAWN = random.Random(5).sample(RUNNING, QUICK)


@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_names_a_setting_and_says_why(kind):
    """Each of the two passes alone, with what it needs."""
    for pair in split(kind)[1]:
        said = declared.refusal(kind, pair.changes)
        assert any(name in said for name in pair.changes), said
        assert WHY.search(said[len(kind) + 2 :]), said


@pytest.mark.parametrize("pair", [runs.param(p, True) for p in (RUNNING if FULL else DRAWN)])
def test_a_pair_runs_replays_and_resumes(pair, run, monkeypatch):
    state, _ = runs.check_cuts(run, pair, monkeypatch, every=3)
    journal = run.journal("whole/run")
    assert run.replayed(journal, run.data) == (True, state)
