"""Model files: what is refused, what is printed, save and load."""

import json
import pathlib

import numpy as np
import pytest
import small

import microzo
from microzo.net import words as L
from microzo_host.model import file as modelfile


def variant(tmp_path, content):
    path = tmp_path / "variant.safetensors"
    path.write_bytes(content)
    return str(path)


def sentence(error):
    text = str(error.value)
    assert "\n" not in text and len(text) < 250
    return text


def test_prints_layers_and_sizes(model):
    text = str(model)
    for part in ("CONV", "DWCONV", "AVGPOOL", "DENSE", "4 classes", "in RAM", "6 x 6 x 8"):
        assert part in text


def test_predicts_like_the_layers_one_by_one(model, model_path):
    x, _ = small.arrays(model_path)
    sample = x[0].tobytes()
    found = model.predict(sample)
    logits = list(model.logits())
    model.input(sample)
    for op in range(model.ops):
        last = model.forward(op, op + 1)
    assert last == found == logits.index(max(logits))
    assert list(model.logits()) == logits
    assert len(model.output(2)) == 6 * 6 * 8


def test_loss_is_cross_entropy(model, model_path):
    x, _ = small.arrays(model_path)
    sample = x[1].tobytes()
    model.predict(sample)
    z = np.array(model.logits()) / 4096
    for label in range(small.CLASSES):
        expected = np.log(np.exp(z - z.max()).sum()) + z.max() - z[label]
        assert abs(model.loss(sample, label) - expected) < 0.002


def test_evaluate_counts_and_tells(model, data):
    told = []
    found = model.evaluate(data, 10, lambda i, n: told.append((i, n)))
    assert told == [(i, 10) for i in range(1, 11)]
    assert str(found) == f"{10.0 * found.correct:.1f} % of 10" and found.loss > 0


def test_truncated_anywhere_is_refused(tmp_path, model_path):
    content = pathlib.Path(model_path).read_bytes()
    for n in [*range(0, 64), *range(64, len(content), 97), len(content) - 1]:
        with pytest.raises((ValueError, OSError)) as error:
            microzo.load(variant(tmp_path, content[:n]))
        assert "variant.safetensors" in sentence(error)


def test_any_altered_byte_of_the_data_is_refused(tmp_path, model_path):
    content = pathlib.Path(model_path).read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    plan_end = begin + 4 * (32 + 48 * 5)
    blob_len = microzo.load(model_path).plan[15]
    for at in [*range(begin, plan_end, 13), *range(plan_end, plan_end + blob_len, 41)]:
        altered = bytearray(content)
        altered[at] ^= 16
        with pytest.raises((ValueError, OSError)) as error:
            microzo.load(variant(tmp_path, altered))
        sentence(error)


@pytest.mark.parametrize(
    "content", [b"", b"hello, I am a text of some length", b"\x93NUMPY\x01\x00" + bytes(200)]
)
def test_other_files_are_no_models(tmp_path, content):
    with pytest.raises(ValueError, match="is not a microzo model: .*microzo quantize"):
        microzo.load(variant(tmp_path, content))


def test_missing_file_is_named():
    with pytest.raises(OSError, match="cannot open nothing.safetensors .no such file"):
        microzo.load("nothing.safetensors")


def test_another_major_version_is_refused(tmp_path, model_path):
    content = bytearray(pathlib.Path(model_path).read_bytes())
    begin = 8 + int.from_bytes(content[:8], "little")
    content[begin + 4] = 2
    with pytest.raises(ValueError, match="variant.*: .*format version 2"):
        microzo.load(variant(tmp_path, content))


def test_wrong_samples_are_refused(model):
    with pytest.raises(ValueError, match="has 144 bytes, not 5"):
        model.predict(b"12345")


def test_saved_model_computes_what_the_trained_one_does(tmp_path, model_path, data):
    model = microzo.load(model_path)
    small.train(model, data, "default")
    path = str(tmp_path / "adapted.safetensors")
    model.save(path)
    saved = microzo.load(path)
    sample = bytearray(model.sample_len)
    for i in range(20):
        data.read_into(i, sample)
        assert saved.predict(sample) == model.predict(sample)
        assert list(saved.logits()) == list(model.logits())
    before, after = modelfile.read(model_path), modelfile.read(path)
    assert [op.name for op in before.ops] == [op.name for op in after.ops]
    assert before.metadata == after.metadata
    assert saved.plan[L.COV_OFF] == model.plan[L.COV_OFF] > 0
    assert after.covariance.tolist() == before.covariance.tolist()
    assert not np.array_equal(before.ops[0].bias, after.ops[0].bias)  # while others changed


def test_a_full_file_system_is_told_and_overwrites_nothing(tmp_path, model, monkeypatch):
    path = tmp_path / "adapted.safetensors"
    path.write_bytes(b"mine")

    def parts(*_):
        yield b"some"
        raise OSError(28, "ENOSPC")

    monkeypatch.setattr("microzo.net.save._parts", parts)
    with pytest.raises(OSError, match="no room for .*adapted.safetensors in its file system"):
        model.save(str(path))
    assert path.read_bytes() == b"mine" and list(tmp_path.iterdir()) == [path]


def test_save_over_the_own_file(tmp_path, model_path, data):
    path = variant(tmp_path, pathlib.Path(model_path).read_bytes())
    model = microzo.load(path)
    small.train(model, data, small.short("tail"))
    model.save(path)
    assert not pathlib.Path(path + ".tmp").exists()
    assert str(microzo.load(path).evaluate(data)) == str(model.evaluate(data))


def test_untrained_model_saves_to_the_same_bytes(tmp_path, model, model_path):
    path = tmp_path / "copy.safetensors"
    model.save(str(path))
    assert path.read_bytes() == pathlib.Path(model_path).read_bytes()


def test_reset_brings_the_file_back(model, data):
    before = str(model.evaluate(data))
    small.train(model, data, "default")
    model.reset()
    assert str(model.evaluate(data)) == before and not model.trained


def test_graph_is_readable(model_path):
    content = pathlib.Path(model_path).read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert "graph" in header["__metadata__"]
