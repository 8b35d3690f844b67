"""The study's cost of a run against the kernel calls of its steps, counted."""

import pytest
import small
from counter import Counter

import microzo
import microzo.data.cache
from microzo.kernel import choice as backend
from microzo.recipes import resolve as program
from microzo.train.engine import Engine
from microzo_host.plan import work as cost


@pytest.fixture
def counter(monkeypatch):
    """Counts what steps and prefix caches do, nothing else."""
    before = backend.kernels()
    made = Counter(before)

    def counted(real):
        def call(self, *args):
            was, made.on = made.on, True
            try:
                return real(self, *args)
            finally:
                made.on = was

        return call

    monkeypatch.setattr(Engine, "_step", counted(Engine._step))
    loader = microzo.data.cache.Loader
    monkeypatch.setattr(loader, "_compute", counted(loader._compute))
    backend.use(made)
    yield made
    backend.use(before)


RECIPES = (
    "realign head tail spsa elastic entropy qzo-ff zoqo scales node channel pmt default"
).split()
CHANGES = {
    "one-sided": ("spsa", {"antithetic": 0}),
    "by layer": ("spsa", {"by_layer": 1, "antithetic": 0}),
    "masked": ("spsa", {"mask": "random", "one_in": 4}),
    "guided": ("spsa", {"guided": 1, "sharp": 4}),
    "without the head": ("node", {"train_head": 0}),
    "model-wise": ("node", {"model_wise": 1}),
    "no statistics": ("entropy", {"stats": 0}),
    "shared": ("spsa", {"share": 1}),
    "shared, masked": ("spsa", {"share": 1, "mask": "random"}),
    "one-sided, guided": ("spsa", {"antithetic": 0, "guided": 1}),
    "one-sided elastic": ("elastic", {"antithetic": 0}),
    "shared elastic": ("elastic", {"share": 1}),
    "elastic by layer": ("elastic", {"by_layer": 1}),
    "one-sided entropy": ("entropy", {"antithetic": 0}),
    "shared entropy": ("entropy", {"share": 1}),
    "one-sided entropy without statistics": ("entropy", {"antithetic": 0, "stats": 0}),
}


def check(counter, folder, recipe, **options):
    model = microzo.load(small.write_model(folder / "small.safetensors"))
    data = microzo.ArrayData(*small.arrays(model.path))
    trainer = microzo.Trainer(model, recipe, **options)
    for _ in trainer.run(data):
        pass
    made = trainer.program
    # a pass of realign ends at its operator, before the logits
    measured = sum(made["samples"] * len(s["ops"]) for s in made["stages"] if s.get("realigns"))
    assert cost.forwards(model.plan, made) == counter.passes + measured
    assert cost.macs(model.plan, made) == counter.macs
    return made["stages"]


@pytest.mark.parametrize("name", RECIPES)
def test_recipes(name, counter, tmp_path):
    check(counter, tmp_path, small.short(name, samples=12))


@pytest.mark.parametrize("label", CHANGES)
def test_settings(label, counter, tmp_path):
    name, changes = CHANGES[label]
    made = small.short(name, samples=12)
    made["stages"][-1].update(changes)
    check(counter, tmp_path, made)


def test_several_node_stages(counter, tmp_path):
    made = dict(small.short("pmt", samples=16), split=1)
    stages = check(counter, tmp_path, made)
    assert [s["kind"] for s in stages] == ["spsa", "node", "node"]


def test_a_suffix_trained_with_its_prefix_in_the_cache(counter, tmp_path):
    check(counter, tmp_path, small.short("spsa", samples=12), layers="last2")


def test_a_run_of_fewer_samples_than_there_are(counter, tmp_path):
    made = small.short("spsa", samples=40)
    made["stages"][0].update(steps=2, probes=2, samples=1)
    check(counter, tmp_path, made, layers="last1")


def test_memory_of_several_node_stages_is_that_of_the_widest(tmp_path):
    """Stages share their buffers."""
    model = microzo.load(small.write_model(tmp_path / "small.safetensors"))
    made = dict(microzo.recipe("pmt"), split=1)
    found = program.resolve(model, made, "auto", 256, True, None, None, True)
    sums = program.needs(model, found, True)
    alone = [program.needs(model, dict(found, stages=[s]), True) for s in found["stages"]]
    for part in ("gradients", "nodes", "statistics and records"):
        assert sums[part] == max(one[part] for one in alone)
