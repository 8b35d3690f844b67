"""Contract: the same bits over every kind of kernels, and from the journal."""

import declared
import pytest
import runs

import microzo
from microzo.kernel import python
from microzo_host import native, reference

KERNELS = (native, reference, python)


@pytest.mark.parametrize("variant", runs.sampled(declared.everything(), 2))
def test_three_kinds_of_kernels(variant, run, with_kernels):
    states, journals = set(), set()
    for kernels in KERNELS:
        with_kernels(kernels)
        path = run.journal(kernels.__name__)
        model, _ = run.train(variant, path)
        states.add(bytes(model.state))
        with open(path, "rb") as f:
            journals.add(f.read())
    assert len(states) == len(journals) == 1
    assert len(states.pop())


@pytest.mark.parametrize("variant", runs.sampled(declared.everything(), 40))
def test_replay(variant, run):
    path = run.journal()
    model, trainer = run.train(variant, path)
    assert run.replayed(path, run.data) == (True, bytes(model.state))
    if runs.exact(trainer) and runs.stays(trainer):
        with pytest.raises(ValueError, match="same data"):
            run.replayed(path, None)
    else:
        assert run.replayed(path, None) == (True, bytes(model.state))


@pytest.mark.parametrize("variant", runs.sampled(declared.everything(), 20))
def test_a_journal_changes_no_bit(variant, run):
    model, _ = run.train(variant, run.journal())
    without, _ = run.train(variant)
    assert bytes(model.state) == bytes(without.state)


@pytest.mark.parametrize("kind", declared.methods())
def test_without_labels(kind, run):
    """A method that needs none learns; the others say what is missing."""
    variant = declared.variants(kind)[0]
    path = run.journal()
    if declared.methods()[kind].labels:
        with pytest.raises(ValueError, match="no labels"):
            run.train(variant, path, run.unlabelled())
        return
    model, trainer = run.train(variant, path, run.unlabelled())
    assert trainer.outcomes()
    copy = run.model()
    assert microzo.replay(copy, path) is True
    assert bytes(copy.state) == bytes(model.state)
