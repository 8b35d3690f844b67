"""Estimated instructions of a step against those counted on the emulated board."""

import ast

import job
import pytest

import microzo
from microzo_host.board import emulator
from microzo_host.demo import session
from microzo_host.plan import ram as ramplan
from microzo_host.plan import time as steptime

SCRIPT = """
import microzo, time
trainer = microzo.Trainer(microzo.load("model.safetensors"), {recipe!r})
spent = {{}}
begun = time.ticks_cpu()
for step in trainer.run(microzo.Dataset("train_x.npy", "train_y.npy"), steps=2):
    taken = time.ticks_diff(time.ticks_cpu(), begun)
    spent.setdefault(step.stage, []).append(taken)
    begun = time.ticks_cpu()
print(spent)
"""
# Passes are counted; a gradient skips what is 0, which no table knows, nor what Python does for
# entropy: the predictions' confidence, the mismatch of the channels.
WITHIN = {
    "spsa": 0.1, "elastic": 0.1, "entropy": 0.3, "realign": 0.35, "refilter": 0.35, "tail": 0.6,
    "head": 0.6, "node": 0.6,
}  # fmt: skip


@pytest.mark.parametrize("recipe", ["forward_only", "default", "elastic", "entropy", "node"])
def test_estimates(recipe, files, full, new_board):
    if recipe != "forward_only" and not full:
        pytest.skip("with MICROZO_FULL=1")
    told_as_counted(recipe, files, new_board)


def test_estimate_of_nodes_of_several_operators(files, full, new_board):
    if not full:
        pytest.skip("with MICROZO_FULL=1")
    recipe = microzo.recipe("node")
    recipe["stages"] = recipe["stages"][1:]
    recipe["stages"][0].update(model_wise=1, batch=4, probes=4)  # a step that the clock can hold
    told_as_counted(recipe, files, new_board)


def told_as_counted(recipe, files, new_board):
    """Every stage's step, within the share that its kind is known to."""
    board = new_board(ram="1M", fs=session.disk(files.model, files.case), icount=True)
    text = board.exec(SCRIPT.format(recipe=recipe), timeout=300)
    spent = ast.literal_eval(text.strip().splitlines()[-1])
    planned = ramplan.predict(files.model, recipe, samples=job.SAMPLES, ram=1 << 20)
    costs = steptime.Costs(microzo.load(str(files.model)).plan, "m4")
    for stage in planned.stages:
        counted = [ticks / emulator.TICKS_PER_INSTRUCTION for ticks in spent[stage["kind"]]]
        # before its first step a stage fills the cache, and the guard measures here and there
        if stage["kind"] == "refilter":  # whose filters are that step
            counted[0] -= 2 * job.SAMPLES * costs.passes(0)
        else:
            del counted[0]
        told = costs.step(stage, job.SAMPLES)
        mean = sum(counted) / len(counted)
        assert abs(told / mean - 1) <= WITHIN[stage["kind"]], (stage["kind"], told, counted)
