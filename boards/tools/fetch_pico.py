"""Unpacks what MicroPython's rp2 port needs beside MicroPython: fetch_pico.py FOLDER.

The files are those of Debian's pool, of a newer release than may run here; hashes are pinned.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from fetch_micropython import download, mirrors

# {library: (place in the pool, SHA-256, its folder in the package)}
SOURCES = {
    "pico-sdk": (
        "p/pico-sdk/pico-sdk-source_2.1.1-1_all.deb",
        "507a3ca37636641bc90239d7c04dc9dc28c5008087a8162102ea94d2273153d3",
        "usr/src/pico-sdk",
    ),
    "tinyusb": (
        "t/tinyusb/tinyusb-source_0.18.0+dfsg-1_all.deb",
        "01ce2c645df68f14a8a7dcfc8fb355713152543757955820479a87949a61154e",
        "usr/src/tinyusb",
    ),
    "mbedtls": (
        "m/mbedtls/mbedtls_3.6.7.orig.tar.bz2",
        "a7e8bcbec0e6f761b4af24f25677626b35f762f68eef79c08677a363212d11f6",
        ".",
    ),
}


def fetch(place, digest, folder):
    """The verified file of the pool, in a folder."""
    file = folder / Path(place).name
    for site in [None, *mirrors()]:  # first what is there already
        if site is None or download(f"{site}/pool/main/{place}", file):
            if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == digest:
                return file
    sys.exit(f"no mirror has {file.name} with the pinned hash: build on Debian, or later")


def unpack(file, inner, folder):
    """The folder `inner` of a package becomes `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    temporary = folder.with_name(folder.name + ".part")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    if file.suffix == ".deb":
        command = ["dpkg", "-x", str(file), str(temporary)]
    else:
        command = ["tar", "xf", str(file), "-C", str(temporary), "--strip-components=1"]
    subprocess.run(command, check=True)
    shutil.move(temporary / inner, folder)
    shutil.rmtree(temporary, ignore_errors=True)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for library, (place, digest, inner) in SOURCES.items():
        unpack(fetch(place, digest, folder), inner, folder / library)


if __name__ == "__main__":
    main()
