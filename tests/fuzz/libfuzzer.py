"""Coverage-guided fuzzing of the native API's table and its plan checker, by libFuzzer.

    python tests/fuzz/libfuzzer.py run SECONDS     from c/corpus.tar.xz; status 1: a finding
    python tests/fuzz/libfuzzer.py corpus SECONDS  fuzzes, then writes the smallest corpus anew

A finding stays in build/fuzz/ and is repeated by `build/fuzz/fuzz_calls FILE`.
"""

import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile

import machine

KERNELS = machine.ROOT / "native_modules" / "microzo" / "kernels"
BUILD = machine.ROOT / "build" / "fuzz"
PROGRAM = BUILD / "fuzz_calls"
CORPUS = machine.HERE / "c" / "corpus.tar.xz"
MOST_BYTES = 8192  # of an input
FLAGS = "-std=c99 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all".split()


class Missing(Exception):
    """No compiler that has libFuzzer."""


def compiler():
    """clang, or the newest with its version in the name, that links libFuzzer."""
    BUILD.mkdir(parents=True, exist_ok=True)
    for name in ("clang", *(f"clang-{n}" for n in range(22, 13, -1))):
        probe = [name, "-fsanitize=fuzzer,address", "-x", "c", "-", "-o", str(BUILD / "probe")]
        text = b"#include <stdint.h>\n#include <stddef.h>\n"
        text += b"int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return !d && n; }"
        if (
            shutil.which(name)
            and not subprocess.run(probe, input=text, capture_output=True).returncode
        ):
            return name
    raise Missing("no clang with libFuzzer: apt-get install clang libclang-rt-dev")


def build():
    """The fuzzer, of the kernels as they are."""
    sys.path.insert(0, str(machine.HERE.parent / "bench"))
    import baremetal

    sources = [KERNELS / name for name in baremetal.sources()["MICROZO_KERNELS"]]
    command = [compiler(), *FLAGS, f"-I{KERNELS}", str(machine.HERE / "c" / "fuzz_calls.c")]
    subprocess.run([*command, *map(str, sources), "-o", str(PROGRAM)], check=True)


def entries():
    """Names of the table, in its order."""
    return re.findall(r"X\((\w+), \"", (KERNELS / "api.h").read_text())


def packed(case):
    """The input that makes the call of a case; None if it has no such form."""
    from caseformat import Buf

    out = bytearray([entries().index(case.function)])
    for arg in case.args:
        if isinstance(arg, Buf):
            if len(arg.data) > 65535:
                return None
            n = len(arg.data)
            width = {"h": 1, "H": 1, "i": 2, "q": 3}.get(arg.kind, 0)
            stored = len(arg.data.rstrip(b"\0"))
            out += n.to_bytes(2, "little") + stored.to_bytes(2, "little") + bytes([width])
            out += arg.data[:stored]
        elif isinstance(arg, int) and -(1 << 31) < arg < 1 << 31:
            out += arg.to_bytes(4, "little", signed=True)
        else:
            return None
    return bytes(out)


def good_calls(count=40):
    """Inputs that are good calls of small networks: of each entry the smallest and some others."""
    sys.path.insert(0, str(machine.HERE.parent / "kernels"))
    import casegen
    import netgen

    rng, by_entry = random.Random(machine.SEED), {}
    for _ in range(count):
        cases = casegen.net_cases(rng, netgen.random_net(rng, limit=6, channels=5))
        cases += casegen.tail_cases(rng, netgen.tail_net(rng))
        for case in itertools.chain(cases, casegen.plain_cases(rng)):
            data = packed(case)
            if data and len(data) <= MOST_BYTES:
                by_entry.setdefault(case.function, set()).add(data)
    for inputs in by_entry.values():
        ordered = sorted(inputs, key=lambda data: (len(data), data))
        yield from ordered[:12]
        yield from rng.sample(ordered[12:], min(30, len(ordered[12:])))


def unpack(folder):
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(CORPUS) as archive:
        archive.extractall(folder, filter="data")


def fuzz(folder, seconds):
    """The last lines that libFuzzer printed; CalledProcessError on a finding."""
    command = [
        str(PROGRAM), str(folder), f"-max_total_time={seconds}", f"-seed={machine.SEED}",
        f"-max_len={MOST_BYTES}", "-timeout=20", "-rss_limit_mb=2048", "-use_value_profile=1",
        f"-artifact_prefix={BUILD}/finding-", "-print_final_stats=1",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    print(done.stderr[-6000:])
    done.check_returncode()
    return done.stderr


def write_corpus(folder):
    """The inputs that together reach all that is reached, as one file."""
    small = BUILD / "small"
    shutil.rmtree(small, ignore_errors=True)
    small.mkdir()
    subprocess.run(
        [str(PROGRAM), "-merge=1", "-use_counters=0", str(small), str(folder)], check=True
    )
    with tarfile.open(CORPUS, "w:xz", preset=9) as archive:
        for path in sorted(small.iterdir(), key=lambda path: (path.read_bytes()[0], path.name)):
            entry = tarfile.TarInfo(path.name[:16])  # without the day and the person
            entry.size = path.stat().st_size
            with open(path, "rb") as file:
                archive.addfile(entry, file)


def main(what, seconds):
    build()
    folder = BUILD / f"corpus-{os.getpid()}"
    try:
        if CORPUS.is_file():
            unpack(folder)
        folder.mkdir(exist_ok=True)
        if what == "corpus":
            for number, data in enumerate(good_calls()):
                (folder / f"good-{number}").write_bytes(data)
        fuzz(folder, seconds)
        if what == "corpus":
            write_corpus(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
