"""What exact gradients of channels would be worth (`python -m microzo_lab ceiling`).

`channel` learns from the loss's derivative with respect to a shift of all free positions of a
channel. Here PyTorch gives that derivative exactly, in float: a layer's weights get the local
gradient of its output gradient averaged over the free positions of each channel, while the exact
gradient goes on to the layers before. Head and last convolution are always trained. ResNet-8,
tuning corruptions, after batch statistics were adapted. Writes build/study/ceiling.json.
"""

import json

import click
import numpy as np

from microzo_host.model import network
from microzo_host.simulation import jobs

from . import accuracy, bp, floatnet, torchnet

LAYERS = ("last", "first3", "all")
SHIFTS = ("gauss", "pixelate")
EPOCHS, BATCH = 12, 32
RATE, WEIGHT_RATE, LAST_RATE = 4e-3, 3e-4, 1e-3  # BatchNorm and head; weights; the last of them


def _averaged(t):
    """A function of (local, free) whose value is 0 and whose gradient is the channel's mean."""

    class Averaged(t.autograd.Function):
        @staticmethod
        def forward(ctx, local, free):
            ctx.save_for_backward(free)
            return t.zeros_like(local)

        @staticmethod
        def backward(ctx, gradient):
            (free,) = ctx.saved_tensors
            mean = (gradient * free).sum((2, 3), keepdim=True)
            return mean / free.sum((2, 3), keepdim=True).clamp(min=1) * free, None

    return Averaged.apply


class Forward:
    """Passes of a network's module whose blocks named in ``chosen`` learn channel by channel.

    A convolution whose output goes into an ADD alone learns from what is free behind the ADD.
    """

    def __init__(self, t, module, net, chosen):
        self._t, self._module, self._net, self._chosen = t, module, net, chosen
        self._averaged = _averaged(t)

    def __call__(self, x):
        """Logits (N, classes) of float images (N, H, W, C)."""
        t, waiting = self._t, {}
        tensors = [x.permute(0, 3, 1, 2)]
        for i, layer in enumerate(self._net.layers):
            inputs = [tensors[j] for j in layer.inputs]
            block = self._module.blocks[str(i)] if str(i) in self._module.blocks else None
            if block is None:
                out = torchnet._plain(t, layer, inputs)
                local = next((waiting[j] for j in layer.inputs if j in waiting), None)
            elif str(i) in self._chosen:
                out, local = self._frozen(block, inputs[0]), block(inputs[0].detach())
                if self._into_add(i + 1):
                    waiting[i + 1], local = local, None
            else:
                out, local = block(inputs[0]), None
            low, high = network.ACTIVATIONS[layer.activation]
            if local is not None:
                inside = (out > low) & (out < high)
                out = out + self._averaged(local, inside.float())
            tensors.append(out if layer.activation == "none" else out.clamp(low, high))
        return tensors[-1].flatten(1)

    def _frozen(self, block, x):
        parameters = {name: p.detach() for name, p in block.named_parameters()}
        return self._t.func.functional_call(block, parameters, (x,))

    def _into_add(self, tensor):
        users = [layer for layer in self._net.layers if tensor in layer.inputs]
        return len(users) == 1 and users[0].kind == "add"


def run(shift, layers, seed=0, samples=1000, epochs=EPOCHS, test_images=1000):
    """{"shift", "layers", "seed", "accuracy", "train"}: float accuracies in per cent."""
    t = torchnet.torch()
    job = jobs.Job(shift, 5, seed, "", test_images, "cifar10", samples)
    (images, labels), test = jobs.adaptation(job, samples), jobs.test_of(job)
    net = floatnet.of_data("cifar10")
    t.manual_seed(seed)
    module = torchnet.build(net)
    bp._adapt_statistics(t, module, images)
    module.eval()
    blocks = list(module.blocks)
    convolutions = [b for b in blocks if module.blocks[b].bn is not None]
    last = [b for b in convolutions if module.blocks[b].weight.shape[-1] > 1][-1]
    chosen = {"last": [], "first3": convolutions[:3], "all": convolutions}[layers]
    chosen = {*chosen, last}
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    groups = {RATE: list(module.blocks[blocks[-1]].parameters()), WEIGHT_RATE: [], LAST_RATE: []}
    for b in chosen:
        groups[RATE] += module.blocks[b].bn.parameters()
        groups[LAST_RATE if b == last else WEIGHT_RATE].append(module.blocks[b].weight)
    for parameters in groups.values():
        for parameter in parameters:
            parameter.requires_grad_(True)
    forward = Forward(t, module, net, chosen)
    optimizer = t.optim.Adam([{"params": p, "lr": r} for r, p in groups.items() if p])
    steps = epochs * -(-samples // BATCH)
    schedule = t.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    x, y = torchnet.to_tensor(images), t.from_numpy(labels.astype(np.int64))
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(epochs):
        for index in t.from_numpy(rng.permutation(samples)).split(BATCH):
            loss = t.nn.functional.cross_entropy(forward(x[index]), y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    found = {
        name: round(100 * float((torchnet.predict(module, part[0]) == part[1]).mean()), 1)
        for name, part in (("accuracy", test), ("train", (images, labels)))
    }
    return {"shift": shift, "layers": layers, "seed": seed, **found}


@click.command("ceiling")
@click.argument("layers", nargs=-1, type=click.Choice(LAYERS))
def command(layers):
    """What exact gradients of channels would be worth; of all LAYERS if none is named."""
    torchnet.torch().set_num_threads(1)
    folder = accuracy.BUILD / "study"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in layers or LAYERS:
        for shift in SHIFTS:
            rows.append(run(shift, name))
            click.echo(json.dumps(rows[-1]))
    (folder / "ceiling.json").write_text(json.dumps(rows, indent=0) + "\n")
