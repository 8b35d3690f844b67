"""Makes the pictures of README.md: the network of the demo, corruptions, one run of the demo.

pictures.py [OUT]: trains on this computer, to the bits of the board.
"""

import argparse
import pathlib
import shutil
import tempfile

import numpy as np
from click.testing import CliRunner

import microzo
from microzo_host import cli
from microzo_host.data import datasets
from microzo_host.demo import prepare

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "docs" / "pictures"
DATA, CORRUPTION = "mnist", "translate"
CLEAN = 300  # images to choose from
NAMES = {
    "pictures/network.svg": "network.svg",
    "pictures/corruptions.png": "corruptions.png",
    "report/curves.png": "run.png",
    "report/confusion.png": "confusion.png",
}


def microzo_command(*arguments):
    """Runs the command `microzo`; raises what it says if it fails."""
    result = CliRunner().invoke(cli.main, list(map(str, arguments)))
    if result.exit_code:
        raise SystemExit(result.output)
    print(result.output.strip().splitlines()[-1])


def make(out):
    """Writes the pictures into a folder."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        path, _, _ = prepare.model(DATA, folder)
        severity = prepare.CORRUPTIONS[DATA][CORRUPTION]
        case = prepare.case(DATA, CORRUPTION, severity, folder)
        clean = [folder / f"clean_{axis}.npy" for axis in "xy"]
        for file, array in zip(clean, datasets.load(DATA, "test")):
            np.save(file, array[:CLEAN])
        model = microzo.load(str(path))
        trainer = microzo.Trainer(model, seed=1, journal=str(case.folder / "train.journal"))
        train = microzo.Dataset(*(str(case.files[f"train_{axis}.npy"]) for axis in "xy"))
        for _ in trainer.run(train):
            pass
        microzo_command("show", path, "--draw", folder / "pictures", "--samples", *clean,
                        "--corruptions", "--severity", severity)  # fmt: skip
        microzo_command("report", case.folder, "-o", folder / "report")
        out.mkdir(parents=True, exist_ok=True)
        for made, name in NAMES.items():
            shutil.copy(folder / made, out / name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=pathlib.Path, default=OUT)
    make(parser.parse_args().out)
