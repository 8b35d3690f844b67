# Runs on the board: begins a run or goes on with it, and saves the model when it is finished.
# ruff: noqa: F821
import microzo
from microzo.board import files


def begin():
    """A new run, or the one that a reset or power cut ended."""
    if files.exists("job.journal"):
        trainer = microzo.resume(model, "job.journal")
        return trainer, trainer.run(data)
    trainer = microzo.Trainer(model, recipe, layers="all", seed=seed, journal="job.journal")
    return trainer, trainer.run(data, steps=steps)


if "trainer" in globals():  # this interpreter was interrupted
    run = trainer.run(data)
else:
    if "data" not in globals():
        model = microzo.load("model.safetensors")
        data = microzo.Dataset("train_x.npy", "train_y.npy")
    trainer, run = begin()
for step in run:
    print(step)
model.save("job.safetensors")
print("finished")
