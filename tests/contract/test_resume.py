"""Contract: a run that is cut anywhere goes on to the same bits."""

import declared
import pytest
import runs

import microzo


@pytest.mark.parametrize("variant", runs.sampled(declared.everything(), 20))
def test_a_cut_at_and_in_every_record(variant, run, monkeypatch):
    state, _ = runs.check_cuts(run, variant, monkeypatch)
    assert len(state)


@pytest.mark.parametrize("kind", declared.methods())
def test_a_cut_in_the_stage_after_another(kind, run, monkeypatch):
    """Its first_shift, or what the stage before left in shared buffers, must come back too."""
    recipes = {other: declared.variants(other)[0] for other in ("realign", kind)}
    first, second = recipes["realign"].recipe, recipes[kind].recipe
    stages = first["stages"] + second["stages"]

    class Both(declared.Variant):
        recipe = dict(second, stages=stages)

    runs.check_cuts(run, Both(kind, kind, {}), monkeypatch)


@pytest.mark.parametrize("kind", declared.methods())
@pytest.mark.parametrize("journalled", (True, False))
def test_ctrl_c_between_any_two_kernel_calls(kind, journalled, run, monkeypatch):
    """The same trainer goes on: by its journal, or by starting the stage anew."""
    variant = declared.variants(kind)[0]
    model, _ = run.train(variant)
    state = bytes(model.state)
    for at in (1, 5, 17, 40, 71, 113):
        model = run.model()
        path = run.journal(f"run{at}") if journalled else None
        trainer = run.trainer(model, variant, journal=path)
        steps = trainer.run(run.data)
        real, calls = model.k.forward, [0]

        def interrupted(*args, real=real, calls=calls, at=at):
            calls[0] += 1
            if calls[0] == at:
                raise KeyboardInterrupt
            return real(*args)

        with monkeypatch.context() as patch:
            patch.setattr(model.k, "forward", interrupted)
            try:
                for _ in steps:
                    pass
            except KeyboardInterrupt:
                pass
        for _ in trainer.run(run.data):
            pass
        assert bytes(model.state) == state
        if journalled:
            assert microzo.replay(run.model(), path, run.data) is True
