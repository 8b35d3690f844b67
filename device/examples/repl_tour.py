"""A tour of the parts, to be typed line by line at the REPL, or run from a PC:

    mpremote run device/examples/repl_tour.py

It needs model.safetensors, train_x.npy and train_y.npy on the board.
"""

from array import array

import microzo

model = microzo.load("model.safetensors")
data = microzo.Dataset("train_x.npy", "train_y.npy")
print(model)
print(data)

print("\n# one sample, one layer")
sample = bytearray(model.sample_len)
label = data.read_into(0, sample)
print("class", model.predict(sample), "label", label, "loss %.3f" % model.loss(sample, label))
model.input(sample)
model.forward(0, 1)
print("first values of layer 0:", list(model.output(0))[:8])
model.forward(1)
print("logits (1/4096 nats):", list(model.logits()))

print("\n# one perturbation: the signs are a function of seed, stream, row")
signs = bytearray(8)
model.k.signs(42, 0, 0, 8, signs)
print([s - 256 if s > 127 else s for s in signs])

print("\n# one zeroth-order estimate of the first layer")
model.place([(0, 3)])
losses = array("i", (0, 0))
model.input(sample)
probe = array(
    "i", (0, 42, label, 0, 3, 0, 1, 0)
)  # first, seed, label, mode, what, lo, hi, eps_shift
model.k.probe(model.plan, model.blob, model.state, model.arena, probe, losses)
print("loss + %.4f, loss - %.4f" % (losses[0] / 4096, losses[1] / 4096))
model.reset()

print("\n# a recipe is a dict; change what you like")
recipe = microzo.recipe("forward_only")
recipe["samples"] = 32
recipe["stages"][-1]["steps"] = 4
trainer = microzo.Trainer(model, recipe)
print(trainer)
print(trainer.memory(32))
for step in trainer.run(data):
    print(step)
print(trainer.outcomes())
print("back to the file's values")
model.reset()
print(model.evaluate(data, 20))
