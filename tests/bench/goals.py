"""Targets that are reached: instructions per multiplication, weight or output, and millions.

Issue 19 asks for more: a step in 1.85 M on M4 and 3.4 M on M3, DS-CNN (kws) in 3.5 and 7.0 M;
docs/explanation/speed.md tells what bounds them.
"""

# (kernel, layer) -> limits on M4/M7/M33, M3, M0+ and, if there is one, RV32; None: no target
LAYERS = {
    ("int8", "conv3x3_1-16_28s2"): (3.5, 6, 15),
    ("int8", "conv3x3_8-16_14"): (1.4, None, None),
    ("int8", "pw_16-32_14"): (1.75, 3.8, 8.5),
    ("int8", "pw_64-64_7"): (1.05, 2.7, 4.5, 3.8),
    ("int8", "dw3x3_32_14"): (4.0, 6.3, 14.5),
    ("int8", "dw3x3_64_7"): (4.0, 6.3, 14.5),
    ("int8", "fc_1024-64"): (1.5, 3.3, 6, 3.9),
    ("int8", "fc_64-10"): (2.3, 3.7, 7.2),
    ("16w8a", "pw_64-64_7"): (1.1, None, None),
    ("16w8a", "fc_1024-64"): (1.6, None, None),
    ("perturb int8", "pw_64-64_7"): (1, 2.2, 2.6),
    ("perturb masters", "pw_64-64_7"): (1, 2.2, 2.6),
    ("perturb 16w8a", "pw_64-64_7"): (1, 2.2, 2.6),
    ("perturb int8", "fc_1024-64"): (1, 2.2, 2.6),
    ("perturb masters", "fc_1024-64"): (1, 2.2, 2.6),
    ("perturb 16w8a", "fc_1024-64"): (1, 2.2, 2.6),
    ("update, 1 pair", "fc_1024-64"): (3.5, 4.5, 5),
    ("update, 2 pairs", "fc_1024-64"): (3.5, 4.5, 5),
    ("update, 4 pairs", "fc_1024-64"): (3.5, 4.5, 5),
    ("update, 8 pairs", "fc_1024-64"): (3.5, 4.5, 5),
    ("update, 16 pairs", "fc_1024-64"): (3.5, 4.5, 5),
    ("antithetic pair int8", "fc_1024-64"): (1.6, None, None),
    ("antithetic pair masters", "fc_1024-64"): (1.6, None, None),
}
# A whole antithetic step of the test network, millions; pools and loss excluded.
STEP = (1.95, 3.5, 7.5, 6.3)
# The recipe `default` on the demo network, from loading to the end, on M4.
DEFAULT = 8_500_000_000
# A forward pass of a model, millions.
MODELS = {
    "resnet8_cifar10": (12.0, 28.5, 48, 44),
    "kws": (3.55, 7.3, 14.3, 12.5),
}
# Forward passes a second and core of the library for CPython.
HOST = {"demo": 10_000, "kws": 3_000, "resnet8_cifar10": 1_200}
# A gradient in closed form of what comes before the head, all outputs counting, per MAC.
TAIL = {"resnet8_cifar10": 1.5}
COLUMN = {"m4": 0, "m7": 0, "m33": 0, "m3": 1, "m0plus": 2, "rv32": 3}


def limit(core, kernel, layer):
    """The target of a figure, or None."""
    limits = LAYERS.get((kernel, layer), ())
    column = COLUMN[core]
    return limits[column] if column < len(limits) else None
