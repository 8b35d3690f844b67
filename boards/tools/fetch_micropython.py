"""Unpacks a verified MicroPython source tree: fetch_micropython.py VERSION FOLDER.

Takes Debian's source tarball from the mirror that apt uses on this machine, and upstream's
git tag where there is no apt or the mirror no longer has that version.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

SHA256 = {
    "1.25.0": "7b25be99a502f070b2de81dafc08da7051d992325d6e67daa9045a918fffdbea",
    "1.26.1": "f5ad2ec89d3e921f753d448955af98b6005655f84ba26087dde6ba0e8d062f34",
}
UPSTREAM = "https://github.com/micropython/micropython.git"
APT_HELPER = "/usr/lib/apt/apt-helper"


def mirrors():
    """The sites apt is configured with, in its own words."""
    if not shutil.which("apt-get"):
        return []
    command = ["apt-get", "indextargets", "--format", "$(SITE)"]
    listed = subprocess.run(command, capture_output=True, text=True).stdout.split()
    return list(dict.fromkeys(site.rstrip("/") for site in listed))


def download(url, file):
    """True if `url` was fetched; by apt's own client, which knows its proxies, if it is there."""
    if os.path.exists(APT_HELPER):
        if subprocess.run([APT_HELPER, "download-file", url, str(file)]).returncode == 0:
            return True
    try:
        with urllib.request.urlopen(url, timeout=60) as source, open(file, "wb") as to:
            shutil.copyfileobj(source, to)
        return True
    except (OSError, ValueError):
        return False


def tarball(version, file):
    if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == SHA256[version]:
        return True
    name = f"micropython_{version}+ds.orig.tar.xz"
    for site in mirrors():
        for component in ("main", "universe"):
            url = f"{site}/pool/{component}/m/micropython/{name}"
            if not download(url, file):
                continue
            if hashlib.sha256(file.read_bytes()).hexdigest() == SHA256[version]:
                return True
            print("a tarball with another SHA-256 was refused", file=sys.stderr)
            file.unlink()
    return False


def main():
    version, folder = sys.argv[1], Path(sys.argv[2])
    if version not in SHA256:
        known = ", ".join(SHA256)
        sys.exit(f"MicroPython {version} has no pinned hash (only {known}); give MPY_DIR=folder.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    file = folder.parent / f"micropython-{version}.tar.xz"
    if tarball(version, file):
        command = ["tar", "xf", str(file), "-C", str(folder), "--strip-components=1"]
    else:
        print("* no mirror had it: taking upstream's tag", flush=True)
        command = ["git", "clone", "--depth=1", f"--branch=v{version}", UPSTREAM, str(folder)]
    if subprocess.run(command).returncode:
        shutil.rmtree(folder, ignore_errors=True)
        sys.exit(f"could not get MicroPython {version}; give MPY_DIR=folder of its source.")


if __name__ == "__main__":
    main()
