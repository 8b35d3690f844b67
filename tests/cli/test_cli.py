"""The command line on the host: what it makes, and one clear sentence for every bad input."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from microzo_host import cli
from microzo_host.data import datasets, demonet
from microzo_host.model import file as modelfile
from microzo_host.model import netfile, quantize


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A quantized model, clean samples, labels."""
    made = tmp_path_factory.mktemp("cli")
    images, labels = datasets.load("mnist", "test")
    np.save(made / "x.npy", images[:40])
    np.save(made / "y.npy", labels[:40])
    calibration = datasets.load("mnist", "pretrain")[0][:64]
    np.save(made / "calibration.npy", calibration)
    modelfile.write(
        made / "m.safetensors", quantize.quantize(demonet.pretrained("mnist"), calibration)
    )
    return made


@pytest.fixture
def microzo(folder, monkeypatch):
    """Runs the command in the folder; returns (status, standard output, standard error)."""
    monkeypatch.chdir(folder)

    def run(*args):
        result = CliRunner().invoke(cli.main, [str(a) for a in args])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


def refused(result, *words):
    """Assert one sentence on stderr with these words, and a bad status."""
    status, _, error = result
    assert status != 0
    assert error.startswith("Error: ") and error.count("\n") == 1, error
    for word in words:
        assert str(word) in error


def test_quantize_matches_the_library(microzo, folder, tmp_path):
    out = tmp_path / "q.safetensors"
    weights = demonet.ASSETS / "mnist.safetensors"
    status, text, _ = microzo("quantize", weights, "calibration.npy", "-o", out)
    assert status == 0 and "17,856 int8 weights" in text
    assert modelfile.read(out).weights == modelfile.read(folder / "m.safetensors").weights
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_network_files_hold_their_graph(microzo, tmp_path, suffix):
    path = tmp_path / f"net{suffix}"
    netfile.write(path, demonet.pretrained("mnist"))
    read = netfile.read(path)
    assert [layer.name for layer in read.layers] == [x.name for x in demonet.create(0).layers]
    assert read.shapes == demonet.create(0).shapes
    assert microzo("quantize", path, "calibration.npy", "-o", tmp_path / "m")[0] == 0


def test_quantize_refuses_what_is_no_network(microzo, folder, tmp_path):
    out = tmp_path / "never"
    refused(microzo("quantize", "x.npy", "calibration.npy", "-o", out), "safetensors")
    refused(microzo("quantize", "m.safetensors", "calibration.npy", "-o", out), "m.safetensors")
    refused(microzo("quantize", "absent.npz", "calibration.npy", "-o", out), "absent.npz")
    weights = demonet.ASSETS / "mnist.safetensors"
    refused(microzo("quantize", weights, "y.npy", "-o", out), "uint8")
    refused(microzo("quantize", weights, "m.safetensors", "-o", out), "m.safetensors", "npy")
    assert not out.exists()


def test_nothing_is_overwritten(microzo, folder, tmp_path):
    out = tmp_path / "kept"
    out.write_bytes(b"mine")
    weights = demonet.ASSETS / "mnist.safetensors"
    refused(microzo("quantize", weights, "calibration.npy", "-o", out), "exists", "--force")
    assert out.read_bytes() == b"mine"
    assert microzo("quantize", weights, "calibration.npy", "-o", out, "--force")[0] == 0
    assert out.read_bytes() != b"mine"


def test_an_output_without_a_folder_is_refused_before_any_work(microzo, folder):
    weights = demonet.ASSETS / "mnist.safetensors"
    for arguments in (
        ("quantize", weights, "calibration.npy", "-o", "nodir/out"),
        ("import", "x.npy", "-o", "nodir/out"),
        ("romfs", "nodir/out", "m.safetensors"),
        ("replay", "m.safetensors", "x.npy", "-o", "nodir/out"),
        ("eval", "m.safetensors", "x.npy", "y.npy", "--logits", "nodir/out"),
        ("eval", "m.safetensors", "x.npy", "y.npy", "--json", "nodir/out"),
        ("plan", "m.safetensors", "--json", "nodir/out"),
    ):
        status, _, error = microzo(*arguments)
        assert status == 1 and error == "Error: nodir/out: there is no folder nodir\n"


def test_eval_counts(microzo, tmp_path):
    status, text, _ = microzo("eval", "m.safetensors", "x.npy", "y.npy", "--json", tmp_path / "j")
    found = json.loads((tmp_path / "j").read_text())
    assert status == 0 and f"of {found['total']}" in text
    assert found["total"] == 40 and found["accuracy"] > 85


def test_json_to_standard_output_is_only_json(microzo):
    status, text, _ = microzo("eval", "m.safetensors", "x.npy", "y.npy", "--json", "-")
    assert status == 0 and json.loads(text)["total"] == 40


def test_data_that_do_not_fit(microzo, folder, tmp_path):
    def save(name, array):
        np.save(tmp_path / name, array)
        return tmp_path / name

    x, y = np.load(folder / "x.npy"), np.load(folder / "y.npy")
    small = save("small.npy", x[:, :20])
    refused(microzo("eval", "m.safetensors", small, "y.npy"), "20x28x1", "28x28x1")
    floats = save("floats.npy", x / 255)
    refused(microzo("eval", "m.safetensors", floats, "y.npy"), "float64", "uint8")
    high = save("high.npy", y + 1)
    refused(microzo("eval", "m.safetensors", "x.npy", high), "label 10", "0 to 9")
    negative = save("negative.npy", y.astype(np.int8) - 5)
    refused(microzo("eval", "m.safetensors", "x.npy", negative), "label -")
    fewer = save("fewer.npy", y[:30])
    refused(microzo("eval", "m.safetensors", "x.npy", fewer), "40", "30")
    refused(microzo("eval", "m.safetensors", "m.safetensors", "y.npy"), ".npy")


def test_files_that_are_no_models(microzo, folder, tmp_path):
    refused(microzo("eval", "x.npy", "x.npy", "y.npy"), "x.npy")
    cut = tmp_path / "cut.safetensors"
    cut.write_bytes((folder / "m.safetensors").read_bytes()[:-100])
    refused(microzo("eval", cut, "x.npy", "y.npy"), "cut")
    refused(microzo("plan", cut), "cut")
    refused(microzo("plan", "absent"), "absent")


def test_plan_says_what_fits(microzo, tmp_path):
    status, text, _ = microzo("plan", "m.safetensors", "--json", tmp_path / "plan")
    found = json.loads((tmp_path / "plan").read_text())
    assert status == 0 and "peak RAM" in text
    assert found["fits"] and found["peak"] == sum(found["parts"].values()) < found["ram"]
    assert found["macs_forward"] == sum(layer["macs"] for layer in found["layers"])


def test_plan_refuses(microzo):
    refused(microzo("plan", "m.safetensors", "--recipe", "magic"), "magic", "default")
    refused(microzo("plan", "m.safetensors", "--ram", "64K"), "65,536")
    refused(microzo("plan", "m.safetensors", "--ram", "lots"), "lots")
    refused(microzo("plan", "m.safetensors", "--recipe", "spsa", "--layers", "5,99"), "99")


def test_journals_that_are_none(microzo):
    refused(microzo("replay", "m.safetensors", "x.npy"), "x.npy", "journal")
    refused(microzo("replay", "x.npy", "y.npy"), "x.npy")


def test_ports_without_a_board(microzo):
    refused(microzo("push", "/dev/ttyNONE", "x.npy"), "no board at /dev/ttyNONE")
    refused(microzo("doctor", "/dev/null"), "/dev/null is no serial port")
    refused(microzo("pull", "/etc/hostname", "x"), "no serial port")
    refused(microzo("run", "auto", "y.npy"), "board")


def test_push_checks_files_with_each_other(microzo, tmp_path):
    np.save(tmp_path / "train_y.npy", np.full(4, 10, np.uint8))
    refused(microzo("push", "/dev/null", "m.safetensors", tmp_path / "train_y.npy"), "label 10")
    np.save(tmp_path / "train_x.npy", np.zeros((4, 5, 5), np.uint8))
    refused(microzo("push", "/dev/null", "m.safetensors", tmp_path / "train_x.npy"), "5x5x1")


def test_boards_lists(microzo):
    status, text, _ = microzo("boards")
    assert status == 0 and "emulated" in text


def test_help_names_every_command(microzo):
    status, text, _ = microzo("--help")
    assert status == 0
    for name in cli.COMMANDS:
        assert name in text
        assert microzo(name, "--help")[0] == 0
