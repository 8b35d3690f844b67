"""The files that the project was given: bit for bit, 35 dB, or refused as what they are."""

import pathlib

import numpy as np
import pytest

from microzo_host.importers import import_model, reference
from microzo_host.reference import compare

for package in ("tflite", "ai_edge_litert", "onnx", "onnxruntime"):
    pytest.importorskip(package, reason="the extra `models` is not installed")
CASES = pathlib.Path(__file__).parents[3] / "shared" / "cases" / "import"
REFUSED = {
    "fc_batch4.tflite": "4 samples .* at a time",
    "fomo_288_classes.tflite": "2 values at each of 144 places",
    "qoperator.onnx": "QuantFormat.QDQ",
}
CALIBRATION = {
    "concat.onnx": "concat_cal", "leakyrelu.onnx": "leaky_cal", "mean3_mean2.onnx": "mean_cal",
    "mlp_flatten_first.onnx": "mlp_cal_60x8x8", "se_sigmoid_mul.onnx": "se_cal",
}  # fmt: skip
BITS = (
    "act_gelu causal_conv1d dead_channel_bias_2e30 dilated_conv2d fc_round_once gap1d_1000 "
    "globalmaxpool2d grouped_conv_b1 keras3_flatten keras3_reshape_conv1d "
    "keras_mobilenet_v1_conv_head normalization prelu sigmoid_one_output transpose_mean "
    "zeropad_crop_b1"
).split()


def case(name):
    path = CASES / name
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return path


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_as_what_it_is(name):
    with pytest.raises(ValueError, match=f"one thing .*{REFUSED[name]}"):
        import_model(case(name))


@pytest.mark.parametrize("name", BITS)
def test_its_bits_are_those_of_litert(name):
    path = case(f"{name}.tflite")
    model = import_model(path)
    shape = 4, model.in_h, model.in_w, model.in_c
    raw = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    if name == "fc_round_once":
        raw = np.arange(256, dtype=np.uint8).reshape(256, 1, 1, 1)
    rows = compare.compare(model, reference(path), raw)
    assert sum(row.values for row in rows) and not any(row.differing for row in rows)


@pytest.mark.parametrize("name", CALIBRATION)
def test_its_floats_are_kept(name):
    path = case(name)
    samples = np.load(CASES / f"{CALIBRATION[name]}.npy")
    model = import_model(path, samples)
    rows = compare.compare(model, reference(path), samples[:16])
    assert min(row.snr for row in rows) > 35
