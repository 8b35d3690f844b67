"""Makes what users install, from what is built: wheel, sdist, mip folders, CircuitPython's folder.

dist.py [OUT]: OUT/*.whl, OUT/*.tar.gz, OUT/mip/ARCH/ with a package.json each, OUT/circuitpython/.
The wheel is built from the sdist alone. dist_check.py installs and uses all of it.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from pathlib import Path

from microzo_host import place
from microzo_host.board import push
from microzo_host.board.emulator import CORES, FIRMWARE

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "boards" / "tools" / "requirements.lock"
SOURCES = ("device/microzo", "host_tools/microzo_host", "native_modules")
IGNORED = shutil.ignore_patterns("__pycache__", "*.mpy")
FILES = ("pyproject.toml", "README.md", "LICENSE")
BOARD = f"{CORES['m4'].firmware}-256K-stock.elf"  # the one that `microzo demo` trains on
MAX_WHEEL = 5 << 20
# 1980: a wheel is the same whenever it is built.
EPOCH = "315532800"


def write(folder, files):
    """Writes {name: bytes} into a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def package():
    """{name: bytes} of the device package, compiled."""
    prefix = push.PACKAGE_TARGET + "/"
    return {name.removeprefix(prefix): data for name, data in push.package_files().items()}


def modules():
    """{architecture: {name: bytes}} of the native modules."""
    by_arch = {}
    for path in push.built_modules():
        files = {Path(target).name: data for target, data in push.with_second(path)}
        by_arch[path.parent.name] = files
    return by_arch


def stage(folder):
    """The sources and, beside them, the parts that only compilers for boards can make."""
    for name in SOURCES:
        shutil.copytree(
            ROOT / name,
            folder / name,
            ignore=shutil.ignore_patterns("__pycache__", "*.mpy", "build"),
        )
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    (folder / "MANIFEST.in").write_text("graft device\ngraft host_tools\ngraft native_modules\n")
    parts = folder / "host_tools" / "microzo_host" / "parts"
    write(parts / "package" / f"mpy{push.MPY_VERSION}", package())
    for arch, files in modules().items():
        write(parts / "natmod" / arch, files)
    for name, source in place.SOURCES.items():
        shutil.copytree(ROOT / source, parts / name, ignore=IGNORED)
    firmware = parts / "firmware"
    firmware.mkdir()
    subprocess.check_call(
        ["arm-none-eabi-strip", "-o", str(firmware / BOARD), str(FIRMWARE / BOARD)]
    )
    shutil.copy(Path(os.environ["MPY"], "LICENSE"), firmware / "LICENSE.MicroPython")


def builder():
    """A Python that has the setuptools of the lock."""
    folder = ROOT / "build" / "dist-env"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    subprocess.check_call([*pip, "-c", str(LOCK), "setuptools"])
    return python


def build(python, hook, source, out):
    """Runs a hook of the build backend in a source folder; the file it made."""
    code = f"from setuptools import build_meta as b; print(); print(b.{hook}({str(out)!r}))"
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        [str(python), "-c", code],
        cwd=source,
        env={**env, "SOURCE_DATE_EPOCH": EPOCH, "PYTHONPATH": ""},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return out / done.stdout.split()[-1]


def mip_folder(folder, version, files):
    """What `mpremote mip install FOLDER/package.json` puts on a board."""
    write(folder, files)
    urls = [[name, name] for name in sorted(files)]
    text = json.dumps({"version": version, "urls": urls}, indent=1)
    (folder / "package.json").write_text(text + "\n")


def main():
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "dist").resolve()
    shutil.rmtree(out, ignore_errors=True)
    source = out / "source"
    stage(source)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    python = builder()
    sdist = build(python, "build_sdist", source, out)
    with tarfile.open(sdist) as archive:
        archive.extractall(out / "unpacked", filter="data")
    wheel = build(
        python, "build_wheel", out / "unpacked" / sdist.name.removesuffix(".tar.gz"), out
    )
    for folder in (source, out / "unpacked"):
        shutil.rmtree(folder)
    in_package = {f"microzo/{name}": data for name, data in package().items()}
    for arch, files in {"python": {}, **modules()}.items():
        mip_folder(out / "mip" / arch, version, {**in_package, **files})
    write(out / "circuitpython" / "lib", push.for_circuitpython(in_package))
    size = wheel.stat().st_size
    print(f"* {wheel.name}: {size:,} bytes; {sdist.name}: {sdist.stat().st_size:,} bytes")
    if size > MAX_WHEEL:
        sys.exit(f"the wheel has {size:,} bytes, more than {MAX_WHEEL:,}: find what made it grow")


if __name__ == "__main__":
    main()
