"""Contract: what a method declares of its work is what its steps make the kernels do."""

import collections
import json

import counter
import declared
import pytest
import runs

from microzo.data.cache import Loader
from microzo.kernel import choice
from microzo.train.engine import Engine
from microzo_host.plan import work

COUNTED = ("stats", "gradient", "apply")


@pytest.fixture
def kernels(monkeypatch):
    """Counts what the steps of a run do, not its guards, calibrations and searches."""
    before = choice.kernels()
    kernels = counter.Counter(before)
    step, compute = Engine._step, Loader._compute

    def counted_step(engine):
        kernels.on = engine._store.durable  # a search has no journal
        step(engine)
        kernels.on = False

    def counted_compute(loader, j):
        kernels.prefixes += kernels.on
        on, kernels.on = kernels.on, False
        compute(loader, j)
        kernels.on = on

    monkeypatch.setattr(Engine, "_step", counted_step)
    monkeypatch.setattr(Loader, "_compute", counted_compute)
    choice.use(kernels)
    yield kernels
    choice.use(before)


def before_statistics(spec, samples):
    """Passes of realign end at the operator that is measured, not at the logits."""
    measured = spec.get("mixed", []) + spec["ops"]
    return samples * len(measured) if spec.get("realigns") else 0


@pytest.mark.parametrize("variant", runs.sampled(declared.everything(), 60))
def test_work(variant, run, kernels):
    path = run.journal()
    model, trainer = run.train(variant, path)
    program = trainer.program
    [spec] = program["stages"]
    seen = work.seen(spec, program)
    passes = kernels.passes + before_statistics(spec, seen)
    if spec.get("seen", -1) < 0:
        assert work.forwards(model.plan, program) == passes
    assert work.stage_macs(model.plan, spec, seen, False) == kernels.macs
    calls = collections.Counter()
    prefixes = 0
    for item in work.items(model.plan, spec, seen):
        if item[0] in COUNTED:
            calls[item[:2]] += item[2]
        if item[0] == "prefix":
            prefixes += item[2]
    assert calls == kernels.calls
    if "batch" in spec or "head" in spec:  # its first look at the samples has filled the cache
        assert kernels.prefixes <= prefixes
    elif not spec.get("realigns"):
        assert kernels.prefixes == prefixes
    with open(path, "rb") as f:
        length = len(f.read())
    assert work.journal_bytes(model.plan, program, len(json.dumps(program))) == length
