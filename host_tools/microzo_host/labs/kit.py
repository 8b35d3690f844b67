"""The teacher's kit: one folder that installs microzo and the labs without a network."""

import pathlib
import shutil
import subprocess
import sys

from .. import place
from . import wheels

ROOT = "microzo[lab]"
ROUNDS = 10  # of looking for what is missing and fetching it
FILES = pathlib.Path(__file__).parent / "kit_files"
FIRMWARE = "rpi-pico-stock.uf2"


def own_wheel(given):
    """The wheel of microzo: the one that is named, or that of `make dist`."""
    if given:
        return pathlib.Path(given)
    built = sorted(place.output("dist").glob("microzo-*.whl"))
    if not built:
        cure = place.cure("make dist", "name the file that you installed with --wheel")
        raise FileNotFoundError(f"no wheel of microzo here: {cure}")
    return built[-1]


def make(folder, wheel, systems, pythons, say=print):
    """Fills a folder with wheels for each of the systems (keys of wheels.TARGETS) and versions of
    CPython, and with the programs that install them.

    OSError if pip cannot fetch something, with pip's last line.
    """
    folder = pathlib.Path(folder)
    store = folder / "wheels"
    store.mkdir(parents=True, exist_ok=True)
    wheel = own_wheel(wheel)
    shutil.copy(wheel, store)
    if not wheel.name.endswith("-none-any.whl"):
        wheels.portable(wheel, store)
    for system in systems:
        for python in pythons:
            say(f"wheels for {system}, Python {python} ...")
            _fetch(store, wheels.TARGETS[system], python)
    for path in sorted(FILES.iterdir()):
        if path.is_file() and path.suffix in (".py", ".txt"):
            shutil.copy(path, folder)
    pico = place.parts("firmware") / FIRMWARE
    if pico.is_file():
        shutil.copy(pico, folder)
    return sum(path.stat().st_size for path in store.iterdir())


def _fetch(store, target, python):
    """Downloads until nothing is missing. pip resolves the first time; later rounds fetch what
    only the target needs."""
    _pip(store, target, python, [ROOT])
    for _ in range(ROUNDS):
        lacking = wheels.missing(store, ROOT, target, python)
        if not lacking:
            return
        _pip(store, target, python, ["--no-deps", *lacking])
    raise OSError(f"after {ROUNDS} rounds pip still lacks {', '.join(lacking)}")


def _pip(store, target, python, what):
    options = [word for name in target.platforms for word in ("--platform", name)]
    done = subprocess.run(
        [
            sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q",
            "--only-binary=:all:", "--implementation", "cp", "--python-version", python, *options,
            "--find-links", store, "-d", store, *what,
        ],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise OSError(f"pip cannot fetch {' '.join(what)}: {(lines or ['no reason given'])[-1]}")
