"""Every target against the oracle: good, refused and spoilt calls."""

import functools
import subprocess
import sys

import badcases
import casegen
import fuzzgen
import pytest
import targets
from caseformat import MAYBE, OK, judge

from microzo_host import reference as oracle

CHUNK = 1500  # cases of a file; the board's disk holds 8 MB


@pytest.fixture(scope="module", params=targets.params())
def target(request):
    return targets.make(request.param)


@functools.cache
def judged_round(i):
    return [judge(case, oracle) for case in casegen.good_cases(1, i)]


@functools.cache
def judged_losses():
    return [judge(case, oracle) for case in casegen.loss_cases(1)]


@functools.cache
def judged_bad_cases():
    return [(judge(case, oracle), strict) for case, strict in badcases.bad_cases(1)]


@functools.cache
def judged_plan_cases(count):
    cases = [judge(case, oracle) for case in fuzzgen.plan_cases(5, count)]
    for case in cases:
        if case.expect == OK:
            case.expect = MAYBE
    return cases


@functools.cache
def judged_images(seed):
    return [judge(case, oracle) for case in casegen.image_cases(seed)]


def run_all(target, cases):
    bad = []
    for i in range(0, len(cases), CHUNK):
        bad += target.run(cases[i : i + CHUNK])
    return bad


@pytest.mark.slow
def test_good_calls_give_the_oracles_bits(target):
    cases = [case for i in range(target.nets) for case in judged_round(i)] + judged_losses()
    assert all(case.expect == OK for case in cases)
    assert len({case.function for case in cases}) == 28
    assert run_all(target, cases) == []


@pytest.mark.slow
def test_a_network_of_the_usual_size(target):
    for seed in range(1 if target.slow else 4):
        cases = judged_images(seed)
        assert target.run(cases[:3] if target.slow and not targets.FULL else cases) == []


def test_bad_calls_are_refused_and_change_nothing(target):
    cases = [case for case, strict in judged_bad_cases() if not (target.slow and strict)]
    assert len(cases) > 1500
    assert [case.function for case in cases if not badcases.is_refused(case)] == []
    assert run_all(target, cases) == []


@pytest.mark.slow
def test_altered_plans_are_refused_or_give_the_same(target):
    cases = judged_plan_cases(10 * target.nets)
    assert run_all(target, cases) == []


def test_spoilt_calls_stay_inside_their_buffers(target):
    assert run_all(target, list(fuzzgen.fuzz_cases(3, 20 * target.nets))) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("where", ["--sanitize", "--unix"])
def test_spoilt_calls_under_the_sanitizers(where):
    """No address error and no undefined behaviour, whatever the arguments."""
    if where == "--unix" and not targets.FULL:
        pytest.skip("builds the unix port: make test-full")
    command = [sys.executable, targets.HERE / "fuzz.py", where]
    command += ["--n", "200000" if targets.FULL else "3000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
