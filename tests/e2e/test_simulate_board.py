"""A run of `microzo simulate` ends in the state, and the accuracy, of the board's run."""

import json

import job

import microzo
from microzo.journal import record
from microzo_host.board import files as board_files
from microzo_host.board import link as board_link
from microzo_host.data import datasets
from microzo_host.simulation import jobs, networks, recipes, runs, store


def test_a_simulated_run_is_the_boards(start, files, tmp_path):
    recipe = recipes.settings(recipes.recipe_of("default"), ["samples=24", "tail.epochs=2"])
    run = runs.run_of(recipe, "rotate_fixed", 4, 5, 60, "mnist")
    simulated = runs.perform(run)
    assert any("kept" in line for line in simulated["outcomes"])

    model = tmp_path / "model.safetensors"
    model.write_bytes(networks.model_bytes("mnist"))
    images, labels = datasets.write_npy(tmp_path, "train", *jobs.adaptation(run, run.samples))
    board = start(fs=files.disk(**{
        "model.safetensors": model, "train_x.npy": images, "train_y.npy": labels,
    }))  # fmt: skip
    board.exec(f"recipe, steps, seed = {json.loads(run.made)!r}, None, {run.seed}")
    board.run(job.BOARD_SCRIPT, timeout=300)
    board.release()
    with board_link.Link(board.port, reset=False) as link:
        left = board_files.Files(link)
        (tmp_path / "journal").write_bytes(left.get("/job.journal"))
        (tmp_path / "adapted").write_bytes(left.get("/job.safetensors"))
    end = job.records(tmp_path / "journal")[-1]
    assert end[0] == record.END
    assert record.get32(end, record.HEADER) == simulated["state_crc"]
    adapted = microzo.load(str(tmp_path / "adapted"))
    test = jobs.test_of(run)
    right = jobs.predictions(adapted, test[0]) == test[1]
    assert store.packed(right) == simulated["right"]
