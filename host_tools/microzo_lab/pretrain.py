"""Pre-train the demo network's float weights: ``python -m microzo_lab pretrain fashion``.

Seeded, a few minutes of CPU, needs the optional extra ``study``. Plain recipe:
Adam, one-cycle learning rate, label smoothing. Augmentation is a horizontal
flip for clothes and a shift of at most one pixel for digits, so that the
corruptions adapted to later stay unseen. The result is reproducible for one
version of PyTorch, processor type and thread count; the stored files are the
reference, this script documents them.
"""

import time

import click
import numpy as np

from microzo_host.data import datasets, demonet

from . import torchnet

RECIPES = {
    "fashion": {"epochs": 16, "batch": 256, "rate": 1e-2, "flip": True, "shift": 0},
    "mnist": {"epochs": 120, "batch": 64, "rate": 4e-3, "flip": False, "shift": 1},
    "digits": {"epochs": 120, "batch": 64, "rate": 4e-3, "flip": False, "shift": 1},
}
WEIGHT_DECAY = 1e-4
SMOOTHING = 0.05


def train(data, recipe, seed, log=print):
    """Return the trained network description (BatchNorm kept) of a data set."""
    t = torchnet.torch()
    t.manual_seed(seed)
    rng = np.random.Generator(np.random.PCG64(seed))
    net = demonet.create_for(data, seed)
    images, labels = datasets.load(data, "pretrain")
    module = torchnet.build(net)
    optimizer = t.optim.AdamW(module.parameters(), weight_decay=WEIGHT_DECAY)
    steps = len(images) // recipe["batch"]
    schedule = t.optim.lr_scheduler.OneCycleLR(
        optimizer, recipe["rate"], total_steps=steps * recipe["epochs"], pct_start=0.15
    )
    loss_of = t.nn.CrossEntropyLoss(label_smoothing=SMOOTHING)
    for epoch in range(recipe["epochs"]):
        module.train()
        order, total, start = rng.permutation(len(images)), 0.0, time.monotonic()
        for step in range(steps):
            index = order[step * recipe["batch"] : (step + 1) * recipe["batch"]]
            x = torchnet.to_tensor(augment(images[index], recipe, rng))
            loss = loss_of(module(x), t.from_numpy(labels[index].astype(np.int64)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        seconds = time.monotonic() - start
        log(f"epoch {epoch + 1}/{recipe['epochs']} loss {total / steps:.3f} {seconds:.1f} s")
    return torchnet.export(module, net)


def augment(images, recipe, rng):
    """Flip half of the images, shift all by up to ``shift`` pixels (uint8 NxHxWxC)."""
    if recipe["flip"]:
        images = np.where(
            (rng.random(len(images)) < 0.5)[:, None, None, None], images[:, :, ::-1], images
        )
    reach = recipe["shift"]
    if reach:
        padded = np.pad(images, ((0, 0), (reach, reach), (reach, reach), (0, 0)))
        height, width = images.shape[1:3]
        corners = rng.integers(0, 2 * reach + 1, (len(images), 2))
        images = np.stack(
            [padded[i, y : y + height, x : x + width] for i, (y, x) in enumerate(corners)]
        )
    return images


def accuracy(net, images, labels):
    """Float accuracy in percent of a network description on uint8 images."""
    return 100 * float((torchnet.predict(torchnet.build(net), images) == labels).mean())


@click.command("pretrain")
@click.argument("data", type=click.Choice(list(RECIPES)))
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--epochs", type=int)
@click.option("--threads", type=int, default=1, show_default=True)
@click.option("--out", help="default: DATA.safetensors of the product's assets")
def command(data, seed, epochs, threads, out):
    """Train, measure and store the demo network's float weights for one data set."""
    recipe = dict(RECIPES[data])
    recipe["epochs"] = epochs or recipe["epochs"]
    t = torchnet.torch()
    t.set_num_threads(threads)
    net = train(data, recipe, seed)
    measured = accuracy(net, *datasets.load(data, "test_full"))
    line = f"python -m microzo_lab pretrain {data} --seed {seed}"
    line += f" --epochs {recipe['epochs']} --threads {threads}"
    demonet.save(
        out or demonet.ASSETS / f"{data}.safetensors",
        net,
        {"command": line, "test_accuracy": f"{measured:.2f}", "torch": t.__version__},
    )
    click.echo(f"{line}: {measured:.2f} % on the test split")
