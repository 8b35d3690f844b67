# Runs on MicroPython with ulab, or with tests/support/ulab_double: arrays of every kind and shape
# go in and come out. Arguments: model (12 x 12 x 1, 4 classes), x.npy, y.npy, kernels: c, python.
# Prints the name of every check that holds.
import gc
import sys
from array import array

import micropython
from ulab import numpy as np

import microzo

SIDE = 12
DOUBLE = hasattr(np, "view")
path, x_file, y_file, which = sys.argv[1:]
if which == "python":
    from microzo.kernel import python

    microzo.use(python)
model = microzo.load(path)
data = microzo.Dataset(x_file, y_file)
raw = bytearray(SIDE * SIDE)
label = data.read_into(0, raw)


def dense(shape, size):
    strides = []
    for n in reversed(shape):
        strides.insert(0, size)
        size *= n
    return tuple(strides)


def make(values, code, shape, boolean=False):
    """An array of ulab, or of the double."""
    if DOUBLE:
        code = "d" if code == "f" else code
        size = {"d": 8, "h": 2, "H": 2}.get(code, 1)
        return np.view(array(code, values), code, shape, dense(shape, size), 0, boolean)
    kinds = {"B": np.uint8, "b": np.int8, "H": np.uint16, "h": np.int16, "f": np.float}
    x = np.array(values, dtype=np.bool if boolean else kinds[code])
    return x if len(shape) == 1 else x.reshape(shape)


def views(raw):
    """(name, view, the bytes in its order)"""
    rows = [list(raw[i : i + SIDE]) for i in range(0, len(raw), SIDE)]
    turned = bytes(v for column in zip(*rows) for v in column)
    mirrored = bytes(v for row in rows for v in reversed(row))
    doubled = [v for v in raw for _ in (0, 1)]
    square = (SIDE, SIDE)
    if DOUBLE:
        yield "transposed", np.view(raw, "B", square, (1, SIDE), 0, False), turned
        yield "mirrored", np.view(raw, "B", square, (SIDE, -1), SIDE - 1, False), mirrored
        yield "strided", np.view(bytes(doubled), "B", (144,), (2,), 0, False), bytes(raw)
        yield "reversed", np.view(raw, "B", (144,), (-1,), 143, False), bytes(reversed(raw))
        yield "permuted", np.view(raw, "B", (1,) + square, (144, 1, SIDE), 0, False), turned
    else:
        whole = make(list(raw), "B", (144,))
        yield "transposed", whole.reshape(square).T, turned
        yield "mirrored", whole.reshape(square)[:, ::-1], mirrored
        yield "strided", make(doubled, "B", (288,))[::2], bytes(raw)
        yield "reversed", whole[::-1], bytes(reversed(raw))
        try:
            x = whole.reshape((1,) + square).transpose(axes=(0, 2, 1))
        except Exception:  # ulab was built for two axes
            x = whole.reshape(square).T
        yield "permuted", x, turned


def logits(x):
    model.predict(x)
    return list(model.logits())


def refused(function, words, *args):
    try:
        function(*args)
    except (ValueError, TypeError) as e:
        for word in words:
            assert word in str(e), str(e)
        return
    raise AssertionError("not refused")


def trained(source, live=False):
    """Checksum after two steps of spsa."""
    recipe = microzo.recipe("spsa")
    recipe["samples"] = 8
    recipe["stages"][0].update(steps=2, probes=1, samples=2, guard="")
    fresh = microzo.load(path)
    trainer = microzo.Trainer(fresh, recipe)
    for x in source if live else trainer.run(source):
        if live:
            trainer.step(x, label)
    return fresh.k.crc32(fresh.state, 0, len(fresh.state))


def samples(n):
    """(bytes of n samples, their labels)"""
    block, labels = bytearray(n * 144), []
    for i in range(n):
        labels.append(data.read_into(i, raw))
        block[i * 144 : (i + 1) * 144] = raw
    data.read_into(0, raw)
    return block, labels


def check_kinds():
    flat = list(raw)
    for shape in ((144,), (12, 12), (12, 12, 1), (1, 12, 12, 1)):
        try:
            x = make(flat, "B", shape)
        except Exception:  # ulab was built for fewer axes
            assert len(shape) > 2
            continue
        assert logits(x) == logits(raw)
        assert model.loss(x, label) == model.loss(raw, label)
        assert bytes(model.encode(x)) == bytes(raw)
    print("uint8")
    quantized = make([i - 72 for i in range(144)], "b", (12, 12))
    refused(lambda: model.predict(quantized), ("int8", "model.encode"))
    refused(lambda: microzo.Trainer(model, "spsa").step(quantized, 0), ("int8",))
    # int8 is what the network works on: its table has each value there is
    table = bytes(memoryview(model.blob)[model.plan[9] : model.plan[9] + 256])
    if model.k.input(model.plan, model.blob, model.arena, model.encode(quantized)) == 0:
        assert len(table) == 256
    print("int8")
    yes = make([v > 128 for v in flat], "B", (12, 12), True)
    refused(lambda: model.predict(yes), ("bool", "uint8"))
    refused(lambda: model.encode(yes), ("bool",))
    print("bool")
    scaled = [v / 255 for v in flat]
    encoded = model.encode(scaled)
    assert logits(make(scaled, "f", (12, 12))) == logits(encoded)
    assert model.clipped == 0
    small = [i & 1 for i in range(144)]
    for code in "hH":
        assert logits(make(small, code, (12, 12))) == logits(model.encode(small))
    refused(lambda: model.predict(make(flat, "h", (144,))), ("outside", "raw bytes are uint8"))
    print("values")
    refused(lambda: model.predict(make(flat[:100], "B", (100,))), ("144 bytes, not 100",))
    refused(lambda: model.predict(make(flat, "B", (9, 16))), ("12 x 12 x 1",))
    print("shapes")


def check_views():
    for name, x, order in views(raw):
        assert logits(x) == logits(order), name
        assert bytes(model.encode(x)) == order, name
        assert trained([x] * 4, True) == trained([order] * 4, True), name
        print(name)


def check_sources():
    block, labels = samples(8)
    expected = trained(microzo.ArrayData(bytes(block), labels))
    x = make(list(block), "B", (8, 144))
    assert trained(microzo.ArrayData(x, labels)) == expected
    assert trained(microzo.ArrayData(x, make(labels, "B", (8,)))) == expected
    assert trained(microzo.ArrayData([x[i] for i in range(8)], labels)) == expected
    print("ArrayData")
    x = make(list(block), "B", (8 * 144,))
    source = microzo.ArrayData(x, labels)
    x[144] = 77
    source.read_into(1, raw)
    assert raw[0] == 77  # nothing was copied
    micropython.heap_lock()
    source.read_into(2, raw)
    micropython.heap_unlock()
    data.read_into(0, raw)
    print("in place")
    for _, x, order in views(raw):
        if len(x) == 144:
            one = microzo.ArrayData(x, [label], 1)
            one.read_into(0, raw)
            assert bytes(raw) == order
            data.read_into(0, raw)
    print("ArrayData of views")
    block, labels = samples(8)
    values = make([v / 255 for v in block], "f", (8, 144))
    encoded = b"".join(bytes(model.encode([v / 255 for v in block[i : i + 144]]))
                       for i in range(0, len(block), 144))  # fmt: skip
    expected = trained(microzo.ArrayData(encoded, labels))
    assert trained(microzo.ArrayData(values, labels)) == expected
    assert trained(microzo.ArrayData(values, labels, model=model)) == expected
    source = microzo.ArrayData(values, labels)
    refused(lambda: source.read_into(0, raw), ("float", "model=model"))
    refused(lambda: microzo.ArrayData(values, make([0.5] * 8, "f", (8,))), ("labels",))
    print("ArrayData of values")


def check_results():
    model.predict(raw)
    z = list(model.logits())
    for out in (array("i", (0,) * 4), [0] * 4, make([0.0] * 4, "f", (4,))):
        assert model.logits(out) is out and [int(v) for v in out] == z
    refused(lambda: model.logits([0] * 3), ("3 items",))
    narrow = make([0] * 4, "B", (4,))
    refused(lambda: model.logits(narrow), ("does not hold",))
    p = model.probabilities()
    assert "array" in str(type(p)) and hasattr(p, "dtype")
    assert abs(sum(p) - 1) < 1e-3 and list(p).index(max(p)) == model.predict(raw)
    print("results")


def check_c():
    """The kernels know ulab's arrays: no buffer of a view that is none."""
    k = model.k
    parts = model.plan, model.blob, model.state, model.arena
    for name, x, order in views(raw):
        assert k.predict(*parts, x) == model.predict(order), name
        refused(k.crc32, ("side by side",), x, 0, 144)
        refused(k.shuffle, ("side by side",), 1, x)
    x = make(list(raw), "B", (12, 12))
    assert k.crc32(x, 0, 144) == k.crc32(raw, 0, 144)
    assert k.predict(*parts, x) == k.predict(*parts, raw) == model.predict(raw)
    refused(lambda: k.predict(*parts, make(list(raw)[:100], "B", (100,))), ("wrong length",))
    refused(lambda: k.predict(*parts, make(list(raw) * 2, "B", (288,))), ("wrong length",))
    for wrong in (
        make([1] * 144, "b", (144,)),
        make([1] * 144, "h", (144,)),
        make([0.5] * 144, "f", (144,)),
        make([True] * 144, "B", (144,), True),
    ):
        refused(k.predict, ("wrong size",), *parts, wrong)
    predict, plan, blob, state, arena = (k.predict,) + parts
    gc.collect()
    micropython.heap_lock()
    predict(plan, blob, state, arena, x)
    micropython.heap_unlock()
    print("predict in C")


check_kinds()
check_views()
check_sources()
check_results()
if which == "c":
    check_c()
