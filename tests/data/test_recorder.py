"""microzo.Recorder: .npy files that grow, whatever cuts them, and the ring in RAM."""

import numpy as np
import pytest
import small

import microzo
from microzo.data import recorder
from microzo_host.board import emulator, push


@pytest.fixture
def samples(model_path):
    x, y = small.arrays(model_path)
    return [(x[i].tobytes(), int(y[i])) for i in range(len(x))]


@pytest.fixture
def names(tmp_path):
    return str(tmp_path / "x.npy"), str(tmp_path / "y.npy")


def record(names, model, samples, close=True):
    one = microzo.Recorder(*names, model)
    for sample in samples:
        one.append(*sample)
    if close:
        one.close()
    return one


def held(names):
    """What NumPy and a Dataset read: the same."""
    x, y = (np.load(name) for name in names)
    data, buf = microzo.Dataset(*names), bytearray(x[0].size)
    labels = [data.read_into(i, buf) for i in range(len(data))]
    assert labels == y.tolist() and bytes(buf) == x[-1].tobytes() and len(data) == len(x)
    data.close()
    return x, y


def test_what_is_recorded_is_read(model, samples, names):
    assert repr(record(names, model, samples[:5])) == f"5 samples recorded in {names[0]}"
    x, y = held(names)
    assert x.shape == (5, *small.SHAPE) and x.dtype == y.dtype == np.uint8
    assert [row.tobytes() for row in x] == [sample for sample, _ in samples[:5]]
    assert y.tolist() == [label for _, label in samples[:5]]


def test_a_later_run_goes_on(model, samples, names):
    for begin in (0, 3, 4):
        record(names, model, samples[begin : begin + 1 + (begin == 0) * 2])
    x, y = held(names)
    assert y.tolist() == [label for _, label in samples[:5]]
    model.check(data := microzo.Dataset(*names))
    assert len(list(microzo.Trainer(model, small.short("realign")).run(data))) == 3


def test_without_a_close_nothing_is_lost(model, samples, names):
    record(names, model, samples[:4], close=False)
    with microzo.Recorder(*names, model) as one:
        assert len(one) == 4
    assert len(held(names)[1]) == 4


def test_a_file_that_is_recorded_can_be_read_after_a_sync(model, samples, names):
    one = record(names, model, samples[:2], close=False)
    one.sync()
    assert len(held(names)[1]) == 2
    one.append(*samples[2])
    one.close()
    assert held(names)[1].tolist() == [label for _, label in samples[:3]]


@pytest.mark.parametrize("closed", [True, False])
def test_a_power_cut_at_any_byte(closed, model, samples, names):
    """Before, or inside, any write: every whole sample is there, and the next ones follow."""
    record(names, model, samples[:3], closed)
    whole = [open(name, "rb").read() for name in names]
    length = model.sample_len
    for rows in (0, 1, 2, 3):
        for torn in (0, 1, length - 1):
            for label in {rows, max(0, rows - 1)}:  # it is written behind the sample
                for name, data, size in zip(names, whole, (128 + rows * length, 128 + label)):
                    with open(name, "wb") as f:
                        f.write((data + bytes(length))[: size + (torn if name == names[0] else 0)])
                with microzo.Recorder(*names, model) as one:
                    assert len(one) == min(label, rows)
                    one.append(*samples[40])
                x, y = held(names)
                expected = samples[: min(label, rows)] + [samples[40]]
                assert y.tolist() == [label for _, label in expected]
                assert [row.tobytes() for row in x] == [sample for sample, _ in expected]


def test_a_cut_inside_the_header_starts_anew(model, samples, names):
    record(names, model, [])
    for name in names:
        head = open(name, "rb").read()
        with open(name, "wb") as f:
            f.write(head[:70])
    record(names, model, samples[:2])
    assert len(held(names)[1]) == 2


def test_sensor_values_are_encoded(model, names):
    values = np.linspace(0, 255, model.sample_len).reshape(small.SHAPE).tolist()
    record(names, model, [(values, 1)])
    x, _ = held(names)
    assert x[0].tobytes() == bytes(model.encode(values))


def test_without_labels(model, samples, names):
    with microzo.Recorder(names[0], None, model) as one:
        one.append(samples[0][0])
    assert np.load(names[0]).shape == (1, *small.SHAPE) and not one.labelled


def test_the_ring_is_a_data_source_of_the_last_samples(model, samples):
    one = microzo.Recorder(None, None, model, capacity=12)
    for sample in samples[:30]:
        one.append(*sample)
    assert len(one) == 12 and repr(one) == "12 samples recorded in RAM"
    buf, kept = bytearray(model.sample_len), set()
    for i in range(12):
        label = one.read_into(i, buf)
        kept.add((bytes(buf), label))
    assert kept == set(samples[18:30])
    assert len(list(microzo.Trainer(model, small.short("head")).run(one))) > 0
    with pytest.raises(ValueError, match=r"samples 0\.\.11, not 12"):
        one.read_into(12, buf)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((b"abc", 0), "has 144 bytes, not 3"),
        ((bytes(144), 4), "label 4 is not one of the classes"),
        ((bytes(144),), "label None is not one of the classes"),
        (([0.5], 1), "takes 144 values a sample, not 1"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, sentence, model, names):
    with microzo.Recorder(*names, model) as one:
        with pytest.raises(ValueError, match=sentence):
            one.append(*arguments)
        assert len(one) == 0
        with pytest.raises(ValueError, match="is open for recording"):
            one.read_into(0, bytearray(144))


def test_files_of_something_else_are_not_touched(model, names, tmp_path):
    other = np.zeros((3, 5), np.uint8)
    np.save(names[0], other)
    with pytest.raises(ValueError, match="holds other entries"):
        microzo.Recorder(*names, model)
    assert (np.load(names[0]) == other).all()
    with pytest.raises(ValueError, match="two files"):
        microzo.Recorder(names[1], names[1], model)
    with pytest.raises(ValueError, match="capacity is"):
        microzo.Recorder(None, None, model, capacity=0)


def test_a_full_disk_keeps_what_is_there(model, samples, names, monkeypatch):
    one = record(names, model, samples[:2], close=False)

    class Full:
        def __getattr__(self, name):
            return lambda *arguments: 0

        def write(self, data):
            raise OSError(28, "full")

    file = one._x._file
    monkeypatch.setattr(one._x, "_file", Full())
    with pytest.raises(OSError, match=r"no room for .*x\.npy"):
        one.append(*samples[2])
    monkeypatch.setattr(one._x, "_file", file)
    one.close()
    assert len(held(names)[1]) == 2


def test_samples_are_told(model, samples, capsys):
    one = microzo.Recorder(None, None, model)
    recorder.tell(True)
    try:
        one.append(*samples[0])
    finally:
        recorder.tell(False)
    one.append(*samples[1])
    said = capsys.readouterr().out
    assert said.startswith(f"\x02mzrec 12 12 1 4 {samples[0][1]} ") and said.count("\x03") == 1


SCRIPT = """
import microzo
model = microzo.load(MODEL)
for run in range(2):
    recorder = microzo.Recorder(X, Y, model)
    for i in range(3):
        recorder.append(bytes([20 * i + run] * model.sample_len), i)
    if run:
        recorder.close()
data = microzo.Dataset(X, Y)
buf = bytearray(model.sample_len)
print([(data.read_into(i, buf), buf[0], buf[-1]) for i in range(len(data))])
"""
SAYS = "[(0, 0, 0), (1, 20, 20), (2, 40, 40), (0, 1, 1), (1, 21, 21), (2, 41, 41)]"


def test_on_the_unix_port(model_path, names):
    code = f"MODEL, X, Y = {model_path!r}, {names[0]!r}, {names[1]!r}\n" + SCRIPT
    assert SAYS in emulator.Unix(True, path=[push.ROOT / "device"]).run(code.encode())
    assert held(names)[1].tolist() == [0, 1, 2, 0, 1, 2]
