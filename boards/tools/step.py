"""Runs one named build step, unless nothing that it depends on has changed.

    step.py "3/7" firmware --inputs boards --key 1.25.0 --outputs build/firmware -- command ...

A stamp under build/stamps holds a hash of the inputs, the key and the command. Output goes to
build/log/NAME.log (with --show also to the terminal); its end is printed when the step fails.
"""

import argparse
import fcntl
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

TAIL_LINES = 40


def files_of(path):
    if path.is_dir():
        for child in sorted(path.iterdir()):
            if child.name not in ("__pycache__", "build", ".mpy_ld_cache"):
                yield from files_of(child)
    elif path.is_file() and path.suffix not in (".pyc", ".mpy"):
        yield path


def fingerprint(inputs, key, command):
    digest = hashlib.sha256(repr((key, command)).encode())
    for name in inputs:
        for file in files_of(Path(name)):
            digest.update(f"\n{file}\n".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def run(command, log, show):
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        for line in process.stdout:
            log.write(line)
            # A line that a script marks with "* " is meant to be read.
            if show or line.startswith(b"* "):
                print("   ", line.decode(errors="replace").rstrip(), flush=True)
    return process.returncode


def is_dry_run():
    """True under `make -n`, which runs the lines that call make all the same."""
    first = os.environ.get("MAKEFLAGS", "").split(" ")[0]
    return "n" in first and first.isalpha()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("number")
    parser.add_argument("name")
    parser.add_argument("--inputs", nargs="*", default=[])
    parser.add_argument("--outputs", nargs="*", default=[])
    parser.add_argument("--key", default="")
    parser.add_argument("--show", action="store_true")
    split = sys.argv.index("--")
    args, command = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]

    if is_dry_run():
        print(f"[{args.number}] {args.name}: not run", flush=True)
        return 0
    for folder in ("build/stamps", "build/log"):
        os.makedirs(folder, exist_ok=True)
    slug = args.name.replace(" ", "-")
    stamp, log_path = Path("build/stamps", slug), Path("build/log", slug + ".log")

    # Two makes at once take turns; the second finds the first one's work done.
    with open("build/stamps/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = fingerprint(args.inputs, args.key, command)
        there = all(Path(o).exists() for o in args.outputs)
        if there and stamp.is_file() and stamp.read_text() == wanted:
            print(f"[{args.number}] {args.name}: up to date", flush=True)
            return 0
        print(f"[{args.number}] {args.name} ...", flush=True)
        stamp.unlink(missing_ok=True)
        start = time.monotonic()
        with open(log_path, "wb") as log:
            status = run(command, log, args.show)
        if status:
            tail = log_path.read_text(errors="replace").splitlines()[-TAIL_LINES:]
            print("\n".join(tail), file=sys.stderr)
            print(f"[{args.number}] {args.name} failed; all of it: {log_path}", file=sys.stderr)
            return status
        stamp.write_text(wanted)
        print(f"[{args.number}] {args.name}: done in {time.monotonic() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
