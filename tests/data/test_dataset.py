"""Data sources: .npy files, memory, any object; what is refused; draws and orders."""

import numpy as np
import pytest

import microzo
from microzo.data import draw as sampling
from microzo.data.order import Order


def save(folder, name, array):
    path = str(folder / name)
    np.save(path, array)
    return path


@pytest.fixture
def x(tmp_path):
    return save(tmp_path, "x.npy", np.arange(5 * 144, dtype=np.uint8).reshape(5, 12, 12))


@pytest.mark.parametrize("kind", ["u1", "i1", "<u2", "<i4", "<i8"])
def test_labels_of_any_integer_kind(tmp_path, x, kind):
    data = microzo.Dataset(x, save(tmp_path, "y.npy", np.array([3, 0, 1, 2, 9], kind)))
    buf = bytearray(144)
    assert [data.read_into(i, buf) for i in range(5)] == [3, 0, 1, 2, 9]
    assert bytes(buf) == np.load(x)[4].tobytes()
    assert "5 samples of shape (12, 12), labelled" in str(data)


def test_version_2_header(tmp_path):
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    path = tmp_path / "v2.npy"
    with open(path, "wb") as f:
        np.lib.format.write_array(f, array, (2, 0))
    buf = bytearray(12)
    microzo.Dataset(str(path)).read_into(1, buf)
    assert bytes(buf) == array[1].tobytes()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 144), np.float32), "holds <f4: samples are uint8.* by \\(255"),
        (np.asfortranarray(np.zeros((3, 144), np.uint8)), "Fortran order"),
        (np.zeros(144, np.uint8), "samples are uint8 of shape N x"),
        (np.zeros((3, 144), np.int8), "samples are uint8 of shape N x"),
        (np.zeros((3, 144), np.uint16), "samples are uint8 of shape N x"),
        (np.zeros((0, 144), np.uint8), "has 0 samples"),
        (np.zeros((65536, 1), np.uint8), "has 65536 samples"),
    ],
)
def test_arrays_that_are_no_samples(tmp_path, array, message):
    with pytest.raises(ValueError, match=message):
        microzo.Dataset(save(tmp_path, "bad.npy", array))


def test_files_that_are_no_arrays(tmp_path):
    path = tmp_path / "text.npy"
    for content in (b"", b"hello world", b"\x93NUMPY\x03\x00" + bytes(100)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"text.npy is not a .npy file"):
            microzo.Dataset(str(path))
    with pytest.raises(OSError, match="cannot open none.npy"):
        microzo.Dataset("none.npy")


def test_cut_file(tmp_path, x):
    path = tmp_path / "cut.npy"
    path.write_bytes(open(x, "rb").read()[:-1])
    with pytest.raises(OSError, match="is cut"):
        microzo.Dataset(str(path))


def test_labels_of_another_number(tmp_path, x):
    with pytest.raises(ValueError, match="needs 5 labels"):
        microzo.Dataset(x, save(tmp_path, "y.npy", np.zeros(4, np.uint8)))


def test_samples_that_do_not_fit_the_model(tmp_path, model):
    data = microzo.Dataset(save(tmp_path, "x.npy", np.zeros((3, 10, 10), np.uint8)))
    for use in (lambda: model.evaluate(data), lambda: microzo.Trainer(model).run(data)):
        with pytest.raises(
            ValueError, match="samples of 100 bytes .*, the model takes 12 x 12 x 1"
        ):
            use()


@pytest.mark.parametrize("label", [4, -1, 70000])
def test_labels_out_of_range(tmp_path, x, model, label):
    data = microzo.Dataset(x, save(tmp_path, "y.npy", np.array([0, 1, 2, label, 0], np.int32)))
    for use in (lambda: model.evaluate(data), lambda: microzo.Trainer(model).run(data)):
        with pytest.raises(ValueError, match="sample 3 has label .* 0..3"):
            use()


def test_unlabelled_data_cannot_be_evaluated(x, model):
    with pytest.raises(ValueError, match="evaluation needs labels"):
        model.evaluate(microzo.Dataset(x))


def test_what_is_not_there_is_not_read(tmp_path, x):
    data = microzo.Dataset(x, save(tmp_path, "y.npy", np.array([3, 0, -1, 2, -128], "i1")))
    memory = microzo.ArrayData(bytes(5 * 144), n=5)
    for source in (data, memory):
        for i in (-1, 5):
            with pytest.raises(ValueError, match=f"0..4, not {i}"):
                source.read_into(i, bytearray(144))
    with pytest.raises(ValueError, match="0..4, not -1"):
        data.label(-1)
    with pytest.raises(ValueError, match="144 bytes, the buffer 143"):
        data.read_into(0, bytearray(143))
    assert not 0 <= data.label(2) < 1024 and not 0 <= data.label(4) < 1024


class Camera:
    """The protocol and nothing more."""

    def __len__(self):
        return 12

    def read_into(self, i, buf):
        for j in range(len(buf)):
            buf[j] = i * j & 255
        return i % 4


def test_any_object_is_a_source(model):
    for step in microzo.Trainer(model, "realign").run(Camera()):
        assert step.stage == "realign"
    assert model.evaluate(Camera()).total == 12


def test_labels_that_come_with_samples_train(model):
    stages = [step.stage for step in microzo.Trainer(model, "default").run(Camera(), steps=2)]
    assert stages[-2:] == ["tail", "tail"]


def test_array_data_equals_files(data_paths):
    files = microzo.Dataset(*data_paths)
    memory = microzo.ArrayData(np.load(data_paths[0]).tobytes(), np.load(data_paths[1]))
    a, b = bytearray(144), bytearray(144)
    for i in range(len(files)):
        assert files.read_into(i, a) == memory.read_into(i, b)
        assert a == b


def test_draw_is_balanced_in_every_prefix():
    labels = np.random.Generator(np.random.PCG64(1)).integers(0, 4, 400)
    data = microzo.ArrayData(bytes(400), labels)
    index, label = sampling.draw(microzo.kernels(), data, 100, 4, 7, bytearray(1))
    assert len(set(index)) == 100
    assert [labels[i] for i in index] == list(label)
    for n in range(4, 101):
        counts = np.bincount(label[:n], minlength=4)
        assert counts.max() - counts.min() <= 1
    other, _ = sampling.draw(microzo.kernels(), data, 100, 4, 8, bytearray(1))
    assert list(other) != list(index)


def test_draw_of_large_data_is_spread():
    data = microzo.ArrayData(bytes(60000), None, 60000)
    index, label = sampling.draw(microzo.kernels(), data, 4096, 4, 7, bytearray(1))
    assert label is None and len(set(index)) == 4096
    assert np.diff(sorted(index)).max() <= 2 * 60000 / 4096
    assert min(index) < 15 and max(index) > 59980


def test_order_visits_all_once_a_pass():
    order = Order(microzo.kernels(), 30, 5)
    passes = [[order.at(g) for g in range(30 * e, 30 * e + 30)] for e in range(3)]
    assert all(sorted(p) == list(range(30)) for p in passes)
    assert passes[0] != passes[1] != passes[2]
    assert [order.at(g) for g in range(30)] == passes[0]
