"""The yardstick: back-propagation on the host (PyTorch, optional extra ``study``).

The float network is fine-tuned on the labelled adaptation images, quantized
as always (calibrated on the same images) and measured in int8. What a board
cannot do, and what its recipes are compared with.

Modes: ``full`` all weights, biases and BatchNorm; ``bn`` BatchNorm's scale and
shift plus the head; ``bn_only`` without the head; ``head`` the last layer only.
``adapt_statistics`` first replaces BatchNorm's statistics by those of the adaptation images
(AdaBN).
Chosen on the TUNING corruptions of Fashion-MNIST only (256 samples, 2,000 test
images, seed 0, so +-1 point a cell; zero-shot mean of the six 63.2): full after
AdaBN 80.7, full 80.1, bn after AdaBN 79.6, head after AdaBN 78.8 at rate 1e-3;
then noise 3, rotate 3 and 4: rate 1e-3 77.6, 2e-3 78.1, 4e-3 78.7.
"""

import numpy as np

from microzo_host.model import quantize
from microzo_host.reference import batch

from . import torchnet

MODES = ("full", "bn", "bn_only", "head")
EPOCHS, BATCH, RATE = 30, 32, 4e-3
YARDSTICK = {"mode": "full", "adapt_statistics": True}


def finetune(
    net, images, labels, mode="full", adapt_statistics=True, seed=0, epochs=EPOCHS, rate=RATE,
    weight_rate=None,
):  # fmt: skip
    """Return the fine-tuned network description.

    ``net``: with or without BatchNorm; ``images`` uint8 NxHxWxC, ``labels`` uint8 N.
    Adam, cosine to zero, BatchNorm in evaluation mode (its statistics frozen).
    ``weight_rate``: the rate of the weights before BatchNorm where it is not ``rate``.
    """
    if mode not in MODES:
        raise ValueError(f"unknown mode {mode!r}: choose one of {', '.join(MODES)}")
    t = torchnet.torch()
    t.manual_seed(seed)
    module = torchnet.build(net)
    if adapt_statistics:
        _adapt_statistics(t, module, images)
    module.eval()
    normed = {id(b.weight) for b in module.blocks.values() if b.bn is not None}
    groups = {rate: [], weight_rate or rate: []}
    for parameter in _trainable(module, mode):
        groups[weight_rate or rate if id(parameter) in normed else rate].append(parameter)
    optimizer = t.optim.Adam({"params": p, "lr": r} for r, p in groups.items() if p)
    schedule = t.optim.lr_scheduler.CosineAnnealingLR(
        optimizer, max(1, epochs * -(-len(images) // BATCH))
    )
    x, y = torchnet.to_tensor(images), t.from_numpy(labels.astype(np.int64))
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(epochs):
        order = t.from_numpy(rng.permutation(len(images)))
        for index in order.split(BATCH):
            loss = t.nn.functional.cross_entropy(module(x[index]), y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return torchnet.export(module, net)


def accuracy(net, adapt, test, seed=0, mode="full", adapt_statistics=True, epochs=EPOCHS):
    """Percent right in int8 on ``test`` after training on ``adapt``, both (images, labels)."""
    tuned = finetune(net, *adapt, mode, adapt_statistics, seed, epochs)
    return batch.accuracy(quantize.quantize(tuned, adapt[0]), *test)


def yardstick(net, adapt, test, seed=0):
    """The figure every comparison uses: ``accuracy`` with YARDSTICK's settings."""
    return accuracy(net, adapt, test, seed, **YARDSTICK)


def _adapt_statistics(t, module, images):
    """BatchNorm statistics of the given images, whole set in one batch, each layer's
    input already normalized by the new statistics of those before it."""
    norms = [block.bn for block in module.blocks.values() if block.bn is not None]
    if not norms:
        raise ValueError(
            "the network has no BatchNorm whose statistics could be adapted: "
            "set adapt_statistics=False"
        )
    module.train()
    for norm in norms:
        norm.momentum = 1.0
    with t.no_grad():
        module(torchnet.to_tensor(images))


def _trainable(module, mode):
    blocks = list(module.blocks.values())
    chosen = [] if mode == "bn_only" else list(blocks[-1].parameters())
    for block in blocks[:-1]:
        if mode == "full":
            chosen += block.parameters()
        elif mode in ("bn", "bn_only") and block.bn is not None:
            chosen += block.bn.parameters()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    for parameter in chosen:
        parameter.requires_grad_(True)
    return chosen
