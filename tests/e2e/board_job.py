# Runs on the board: begins a run or goes on with it, and saves the model when it is finished.
import microzo
from microzo import files

model = microzo.load("model.safetensors")
data = microzo.Dataset("train_x.npy", "train_y.npy")


def new_trainer():
    return microzo.Trainer(model, recipe, layers="all", seed=seed, journal="job.journal")  # noqa: F821


if files.exists("job.journal"):
    trainer = microzo.resume(model, "job.journal")
    try:
        run = trainer.run(data, steps=steps)  # noqa: F821
    except ValueError as error:
        print(error)  # cut before its first step, or inside its header
        files.remove("job.journal")
        model = microzo.load("model.safetensors")
        trainer = new_trainer()
        run = trainer.run(data, steps=steps)  # noqa: F821
else:
    trainer = new_trainer()
    run = trainer.run(data, steps=steps)  # noqa: F821
for step in run:
    print(step)
model.save("job.safetensors")
print("finished")
