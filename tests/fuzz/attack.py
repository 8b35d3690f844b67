"""Attacks the native API where its real inner loops run: every call between guard pages, on the
cores of bought boards under user-mode emulation and on x64 under the sanitizers.

    python -m tests.fuzz.attack [--n 1000000] [--seed 1] [--targets x64,m4] [--out FILE]

Once a release. Half of the calls are spoilt anywhere, most others have an altered plan, some are
good; these two are compared with the oracle (tests/kernels/fuzz.py makes them, by the seed). FILE,
build/attack.json, is written after every round: the same command goes on from there. Its `done`
counts the calls of each target, its `findings` hold what repeats one. Status 1: there are some.

The targets: x64 and avx2, with ASan and UBSan; m4 (M7 and M33 have the same code), m3 and m0plus,
whose kernels are compiled as those of a native module (Debian's qemu-user-static).
"""

import argparse
import json
import re
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
C = ROOT / "tests" / "fuzz" / "c"
KERNELS = ROOT / "native_modules" / "microzo" / "kernels"
BUILD = ROOT / "build" / "attack"
sys.path[:0] = [
    str(ROOT / name) for name in ("device", "host_tools", "tests/support", "tests/kernels",
                                  "tests/bench")
]  # fmt: skip

import baremetal  # noqa: E402
import caseformat  # noqa: E402
import cores  # noqa: E402
import fuzz  # noqa: E402
from caseformat import ANY, MAYBE, OK, READ_ONLY, Alias, Buf  # noqa: E402

ROUND = 1000  # calls that a seed gives
BATCH = 250  # calls of a process
ROOM = (1 << 18) - 8  # bytes of a buffer, as in attack.c
WIDTHS = {"h": 2, "H": 2, "i": 4, "q": 8}
X64 = {"x64": [], "avx2": ["-march=x86-64-v3"]}
TARGETS = (*X64, "m4", "m3", "m0plus")
SANITIZERS = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all".split()
# Entries of attack.c behind the table: (what is wrong with it, how that shows).
SPOILT = ("reads behind", "reads before", "writes behind", "writes before", "writes to an r",
          "raises and writes")  # fmt: skip


class Missing(Exception):
    """A tool that is not installed, and how to get it."""


def table():
    """{entry: (its number, its signature)}"""
    rows = re.findall(r'X\((\w+), "(\w*)"', (KERNELS / "api.h").read_text())
    return {name: (number, signature) for number, (name, signature) in enumerate(rows)}


class Target:
    """A program that makes calls; `command` runs it."""

    def __init__(self, name):
        self.name = name
        self.table = table()
        out = BUILD / name
        out.mkdir(parents=True, exist_ok=True)
        self.command = _host(out, X64[name]) if name in X64 else _arm(cores.CORES[name], out)

    def run(self, cases, say=lambda finding: None):
        """(calls that were made, findings), each a sentence; `say` hears them one by one."""
        made, findings = 0, []
        plain = [pair for case in cases if (pair := self._packed(case))]
        for begin in range(0, len(plain), BATCH):
            batch = plain[begin : begin + BATCH]
            while batch:
                answers, ended = self._answers([raw for _, raw in batch])
                for (case, _), answer in zip(batch, answers, strict=False):
                    wrong = judged(case, answer)
                    if wrong:
                        findings.append(f"{self.name}: {case.function}: {wrong}")
                        say(findings[-1])
                made += min(len(answers) + 1, len(batch))
                if len(answers) < len(batch):
                    case = batch[len(answers)][0]
                    findings.append(f"{self.name}: {case.function} ended the program: {ended}")
                    say(findings[-1])
                batch = batch[len(answers) + 1 :]
        return made, findings

    def _answers(self, calls):
        """(list of (status, [(crc, bits)]) of the calls that ended, how the program ended)."""
        done = subprocess.run(self.command, input=b"".join(calls), capture_output=True)
        answers, at, out = [], 0, done.stdout
        for call in calls:
            own = self._buffers(call)
            if len(out) - at < 4 + 5 * own:
                break
            (status,) = struct.unpack_from("<i", out, at)
            rows = [struct.unpack_from("<IB", out, at + 4 + 5 * i) for i in range(own)]
            answers.append((status, rows))
            at += 4 + 5 * own
        text = done.stderr.decode(errors="replace").strip()
        return answers, f"status {done.returncode} {text[-1500:]}"

    def _buffers(self, call):
        """How many buffers of its own a packed call has."""
        at, own = 2, 0
        names = list(self.table.values())
        signature = names[call[0]][1] if call[0] < len(names) else "r"
        for letter in signature:
            if letter == "i":
                at += 4
            elif call[at]:
                at += 1
            else:
                own += 1
                at += 15 + struct.unpack_from("<I", call, at + 3)[0]
        return own

    def _packed(self, case):
        """(case, its bytes); None for what only a shell sees: wrong types, a wrong number."""
        number, signature = self.table.get(case.function, (None, ""))
        if len(case.args) != len(signature):
            return None
        out = bytearray([number, hash_of(case) % 4 == 0])
        for letter, arg in zip(signature, case.args, strict=True):
            if letter == "i":
                if not isinstance(arg, int) or not -(1 << 31) < arg < 1 << 31:
                    return None
                out += struct.pack("<i", arg)
            elif isinstance(arg, Alias):
                if signature[arg.index] == "i" or not isinstance(case.args[arg.index], Buf):
                    return None
                if letter == "w" and case.args[arg.index].kind == READ_ONLY:
                    return None
                out.append(arg.index + 1)
            elif isinstance(arg, Buf):
                if letter == "w" and arg.kind == READ_ONLY or len(arg.data) > ROOM:
                    return None
                odd = arg.kind == caseformat.MISALIGNED
                out += bytes([0, WIDTHS.get(arg.kind, 1), odd])
                out += struct.pack("<3I", len(arg.data), *arg.span()) + arg.data
            else:
                return None
        return case, bytes(out)


def hash_of(case):
    """A number that a case has on every machine."""
    return sum(len(arg.data) for arg in case.args if isinstance(arg, Buf)) >> 2


def judged(case, answer):
    """What is wrong with an answer, or None."""
    status, rows = answer
    own = [i for i, arg in enumerate(case.args) if isinstance(arg, Buf)]
    for i, (crc, bits) in zip(own, rows, strict=True):
        if bits & 2:
            return f"it wrote outside argument {i}"
        if bits & 1 and status < 0:
            return f"it raised but changed argument {i}"
        if case.expect in (OK, MAYBE) and status >= 0 and crc & 0x3FFFFFFF != case.crcs[i]:
            return f"argument {i} differs"
    if case.expect == ANY or case.expect == MAYBE and status < 0:
        return None
    if (status >= 0) != (case.expect in (OK, MAYBE)):
        return f"it returned {status}, the oracle {'raises' if status >= 0 else case.value}"
    return f"it returned {status}, not {case.value}" if 0 <= status != case.value else None


def _host(out, flags):
    if flags and "avx2" not in Path("/proc/cpuinfo").read_text():
        raise Missing("this processor has no AVX2")
    sources = [KERNELS / name for name in baremetal.sources()["MICROZO_KERNELS"]]
    program = out / "attack"
    command = ["gcc", "-std=gnu99", *SANITIZERS, *flags, f"-I{KERNELS}", "-o", program]
    subprocess.run([*command, C / "attack.c", C / "attack_host.c", *sources], check=True)
    return ["env", "ASAN_OPTIONS=detect_leaks=0", program]


def _arm(core, out):
    emulator = shutil.which("qemu-arm-static") or shutil.which("qemu-arm")
    if not emulator:
        raise Missing("no qemu-arm: apt-get install qemu-user-static")
    if not shutil.which(core.compiler):
        raise Missing(f"no {core.compiler}: make packages")
    compiler, objects = baremetal.kernel_objects(core, out)
    for name in ("attack.c", "attack_arm.S"):
        target = out / f"{Path(name).stem}.o"
        flags = ["-Os", "-Wno-unused-value"]
        subprocess.run([*compiler, *flags, "-c", "-o", target, C / name], check=True)
        objects.append(str(target))
    program = out / "attack"
    link = ["-nostartfiles", "-static", "-Wl,-Ttext-segment=0x10000", "-Wl,-e,_start"]
    subprocess.run(
        [core.compiler, *core.flags, *link, "-o", program, *objects, "-nostdlib", "-lc", "-lgcc"],
        check=True,
    )
    return [emulator, program]


def attack(targets, seed, count, path, say=print):
    """Makes `count` calls of each target or goes on with the attack in `path`; its result."""
    result = {"seed": seed, "asked": count, "round": 0, "done": {}, "findings": [], "seconds": 0}
    if path.is_file():
        before = json.loads(path.read_text())
        if (before["seed"], sorted(before["done"])) == (seed, sorted(t.name for t in targets)):
            result = dict(before, asked=count)
    for target in targets:
        result["done"].setdefault(target.name, 0)
    began = time.monotonic() - result["seconds"]
    while min(result["done"].values()) < count:
        number = seed + result["round"]
        _, cases = next(fuzz.rounds(number, ROUND))
        for target in targets:
            made, findings = target.run(cases, say)
            result["done"][target.name] += made
            result["findings"] += [f"seed {number}, {text}" for text in findings]
        result["round"] += 1
        result["seconds"] = round(time.monotonic() - began)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(dict(result, date=time.strftime("%Y-%m-%d")), indent=1))
        temporary.replace(path)
    return result


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=1_000_000, help="calls of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "attack.json")
    args = parser.parse_args()
    targets = [Target(name) for name in args.targets.split(",")]
    result = attack(targets, args.seed, args.n, args.out)
    print(json.dumps(result["done"]), len(result["findings"]), "findings")
    return int(bool(result["findings"]))


if __name__ == "__main__":
    sys.exit(main())
