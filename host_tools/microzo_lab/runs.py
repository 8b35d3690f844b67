"""Runs of a recipe on one corruption with one seed: side by side, kept on disk, continued.

The board's trainer over the host's C kernels: a result is the board's, bit for bit.
"""

import dataclasses
import json
import pathlib
import tempfile
import zlib

import microzo
import microzo.methods.stages
import microzo.recipes.names

from . import accuracy, cluster, cost, networks


@dataclasses.dataclass(frozen=True)
class Run(accuracy.Job):
    """A job whose recipe is given as data: ``made`` is its JSON."""

    made: str = ""


def run_of(recipe, corruption, severity, seed, test_images, data, label=""):
    """A Run of a recipe dict."""
    made = json.dumps(recipe, sort_keys=True)
    return Run(
        corruption, severity, seed, label or recipe["name"], test_images, data,
        recipe["samples"], made,
    )  # fmt: skip


def recipe_of(name):
    """A recipe by name; the stages of several one after another for ``realign+head``. What begins
    with realign or refilter stages that came before goes on from there."""
    first, *others = name.split("+")
    made = microzo.recipe(first)
    for other in others:
        more = microzo.recipe(other)
        stages, before = more["stages"], list(made["stages"])
        while (
            stages and stages[0]["kind"] in microzo.methods.stages.REALIGN and stages[0] in before
        ):
            stages = stages[1:]
        made["stages"] += stages
        if "split" in more:
            made["split"] = more["split"]
    made["name"] = name
    return made


def settings(recipe, changes):
    """A copy of the recipe with changes such as ``spsa.shift=2`` or ``samples=64``."""
    made = json.loads(json.dumps(recipe))
    for text in changes:
        path, found, value = text.partition("=")
        if not found:
            raise ValueError(f"{text!r} is no change: write stage.setting=value")
        *stage, key = path.split(".")
        value = int(value) if value.lstrip("-").isdigit() else value
        targets = [s for s in made["stages"] if s["kind"] in stage] if stage else [made]
        optional = stage and key in microzo.recipes.names.OPTIONAL
        targets = [t for t in targets if key in t or optional and "sides" in t]
        if not targets:
            raise ValueError(f"recipe {made['name']} has no setting {path}: {_known(made)}")
        for target in targets:
            target[key] = value
    return made


def _known(made):
    """The settings that a recipe may be given, as a clause."""
    kinds = dict.fromkeys(stage["kind"] for stage in made["stages"])
    own = [key for key in made if key not in ("name", "stages")]
    found = [f"{kind}.({' '.join(microzo.recipes.names.keys(kind))})" for kind in kinds]
    return f"it has {', '.join(own + found)}"


def perform(run):
    """The run's fields with accuracy, forwards, macs, ram_bytes, outcomes and warnings.

    ``right``: which test images are right, as accuracy.unpacked() reads it; ``state_crc``: what
    the journal of the same run ends with.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.safetensors")
        path.write_bytes(networks.model_bytes(run.data))
        model = microzo.load(str(path))
    trainer = microzo.Trainer(model, recipe=json.loads(run.made), seed=run.seed)
    ram = trainer.plan(run.samples).total
    warnings = set()
    for step in trainer.run(microzo.ArrayData(*accuracy.adaptation(run, run.samples))):
        warnings.add(step.warning)
    images, labels = accuracy.test_of(run)
    right = accuracy.predictions(model, images) == labels
    return {
        **dataclasses.asdict(run),
        "accuracy": round(100 * float(right.mean()), 3),
        "right": accuracy.packed(right),
        "state_crc": zlib.crc32(model.state) & 0x3FFFFFFF,
        "forwards": cost.forwards(trainer.program),
        "macs": cost.macs(model.plan, trainer.program),
        "ram_bytes": ram,
        "outcomes": trainer.outcomes(),
        "warnings": sorted(warnings - {""}),
    }


def kept(run, folder):
    """The result of a run if it is on disk, else None."""
    path = _path(run, folder)
    return json.loads(path.read_text()) if path.is_file() else None


def _path(run, folder):
    return accuracy.Cache(folder).path(run)


def _performed(run):
    return run, perform(run)


def _keep(run, result, folder):
    path = _path(run, folder)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(result) + "\n")
    temporary.replace(path)


def collect(runs, folder, processes, advance=None, scheduler=""):
    """{run: result}; what is on disk is not run again. advance(run): called for each new one.

    scheduler: address of a Dask scheduler whose workers do it, or "": `processes` here.
    """
    done = {run: result for run in runs if (result := kept(run, folder)) is not None}
    missing = [run for run in dict.fromkeys(runs) if run not in done]
    if scheduler:
        made = cluster.unordered(_performed, missing, scheduler)
    else:
        made = accuracy.side_by_side(_performed, missing, processes)
    for run, result in made:
        _keep(run, result, folder)
        done[run] = result
        if advance:
            advance(run)
    return done
