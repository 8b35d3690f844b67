"""Orders: value number i of a foreign tensor is value number order[i] of ours, (h, w, c).

None in place of an order stands for the identity.
"""

import math

import numpy as np


def in_place(order):
    """An order, or None if every value is in its place."""
    return None if np.array_equal(order, np.arange(len(order))) else order


def axes(order, shape, ours):
    """Which of our axes each axis of ``shape`` is, None for one of one value.

    None if the tensor is not our (h, w, c) with axes moved.
    """
    order = np.asarray(order).reshape(shape)
    steps = {ours[1] * ours[2]: 0, ours[2]: 1, 1: 2}
    if ours[2] == 1:
        steps = {ours[1]: 0, 1: 1} if ours[1] > 1 else {1: 0}
    elif ours[1] == 1:
        steps = {ours[2]: 0, 1: 2}
    result = []
    for axis, n in enumerate(shape):
        step = int(np.take(order, 1, axis).flat[0] - order.flat[0]) if n > 1 else None
        result.append(None if step is None else steps.get(step, -1))
    used = [a for a in result if a is not None]
    fits = all(n == 1 or n == ours[a] for n, a in zip(shape, result) if a is not None)
    return None if -1 in used or len(set(used)) < len(used) or not fits else result


def moved(places, ours):
    """The order of a tensor whose axes are our axes ``places`` (None: an axis of one value)."""
    places = [a for a in places if a is not None]
    rest = [a for a in range(3) if a not in places]
    values = np.arange(math.prod(ours)).reshape(ours).transpose(*rest, *places)
    return values.reshape(-1)


def reduction(order, shape, reduced, readings):
    """((h, w, c) as it is read, (rows, columns) of a window, order of the results), or None.

    ``reduced``: axes of a tensor of ``shape`` that become one value; ``readings``: shapes as
    which our tensor may be read. The result is a pool without padding.
    """
    count = math.prod(shape[a] for a in reduced)
    groups = np.moveaxis(np.asarray(order).reshape(shape), reduced, range(-len(reduced), 0))
    groups = np.sort(groups.reshape(-1, count), 1)
    for h, w, c in dict.fromkeys(_flat(readings)):
        for kernel in ((h, w), (1, w), (h, 1), (1, 1)):
            if kernel[0] * kernel[1] == count:
                places = _matched(groups, (h, w, c), kernel)
                if places is not None:
                    return (h, w, c), kernel, places
    return None


def _flat(readings):
    for h, w, c in readings:
        yield h, w, c
        if h * w <= 65535:
            yield h * w, c, 1


def _matched(groups, shape, kernel):
    """Which window of a pool of ``shape`` each row of ``groups`` is; None if one is none."""
    (h, w, c), (rows, columns) = shape, kernel
    cells = np.arange(h * w * c).reshape(h // rows, rows, w // columns, columns, c)
    windows = cells.transpose(0, 2, 4, 1, 3).reshape(len(groups), -1)
    number = np.full(h * w * c, -1)
    number[windows[:, 0]] = np.arange(len(windows))
    places = number[groups[:, 0]]
    if (places < 0).any() or not np.array_equal(windows[places], groups):
        return None
    return places
