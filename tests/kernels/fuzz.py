"""Fuzzes the C kernels: random calls against the oracle, spoilt calls against
their buffers.

    python tests/kernels/fuzz.py --n 200000 [--seed 1] [--sanitize | --unix]

--sanitize: built with the address and undefined-behaviour sanitizers; --unix: in MicroPython's
unix port, built with them. Half of the calls is
spoilt anywhere, most others have an altered plan, some are good; these two are compared with the
oracle. Exit status 1 if anything was found.
"""

import argparse
import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHUNK = 1000


def rounds(seed, count):
    """Lists of about CHUNK cases, `count` in all."""
    import casegen
    import fuzzgen
    from caseformat import MAYBE, OK, judge

    from microzo_host import reference as oracle

    while count > 0:
        size = min(CHUNK, count)
        spoilt = list(fuzzgen.fuzz_cases(seed, size // 2))
        altered = [judge(case, oracle) for case in fuzzgen.plan_cases(seed, size // 2)]
        for case in altered:
            case.expect = MAYBE if case.expect == OK else case.expect
        good = itertools.chain.from_iterable(
            casegen.good_cases(seed, i) for i in itertools.count()
        )
        good = [
            judge(case, oracle)
            for case in itertools.islice(good, max(0, size - len(spoilt) - len(altered)))
        ]
        yield seed, spoilt + altered + good
        count -= size
        seed += 1


def fuzz(seed, count, unix=False, say=print):
    """Number of mismatches."""
    import targets

    local = ("microzo_host.native", 0)
    target = targets.UnixPort("sanitize", 0) if unix else targets.Local(*local)
    found = done = 0
    began = time.monotonic()
    for number, cases in rounds(seed, count):
        for mismatch in target.run(cases):
            found += 1
            say(f"seed {number}, case {mismatch}")
        done += len(cases)
        say(f"{done} calls, {found} found, {time.monotonic() - began:.0f} s")
    return found


def sanitized():
    """Builds the library with the sanitizers and runs this command again with their runtime."""
    out = ROOT / "build" / "host-sanitize"
    make = ["make", "-s", "-C", ROOT / "native_modules/microzo", "-f", "host.mk", "SANITIZE=1"]
    subprocess.check_call([*make, f"OUT={out}", f"PYTHON={sys.executable}"])
    runtime = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
    env = dict(os.environ, MICROZO_SANITIZE="1", LD_PRELOAD=runtime, PYTHONMALLOC="malloc")
    env["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=0:allocator_may_return_null=1"
    env["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
    command = [arg for arg in sys.argv if arg != "--sanitize"]
    return subprocess.call([sys.executable, *command], env=env)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=200000, help="number of calls")
    parser.add_argument("--seed", type=int, default=1)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--sanitize", action="store_true", help="with the sanitizers")
    how.add_argument("--unix", action="store_true", help="the unix port with the sanitizers")
    args = parser.parse_args()
    return sanitized() if args.sanitize else int(fuzz(args.seed, args.n, args.unix) > 0)


if __name__ == "__main__":
    sys.exit(main())
