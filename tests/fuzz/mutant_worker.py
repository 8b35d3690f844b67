"""Alters files and uses them: a right result, or one sentence and nothing else.

    MICROZO_SEED=1 python tests/fuzz/mutant_worker.py KIND COUNT [CASE]

KIND: a key of mutant_kinds.KINDS; CASE: only this one, with its traceback.
"""

import collections
import faulthandler
import resource
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import machine
from mutant_kinds import KINDS

ROOM = 600 << 20  # bytes beyond what the process has when the first mutant is read
SECONDS = 20
USES = (
    "use",
    "use_as_labels",
    "use_with_data",
    "use_to_go_on",
    "use_on_host",
)  # methods of a kind that read a file
REFUSALS = (ValueError, OSError, MemoryError)


class TooLong(BaseException):
    """A file holds the reader up."""


def outcome(use, path):
    """ "taken" or "refused"; any other exception is raised."""
    try:
        use(path)
    except REFUSALS as error:
        text = str(error)
        if not text.strip() or "\n" in text or len(text) > 20000:
            raise AssertionError(f"no sentence: {text[:200]!r}") from error
        return "refused"
    return "taken"


def limit_memory():
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def too_long(*_):
    raise TooLong(f"more than {SECONDS} s")


def main(name, wanted, only=None):
    faulthandler.enable()
    signal.signal(signal.SIGALRM, too_long)
    with tempfile.TemporaryDirectory() as folder:
        kind = KINDS[name](folder)
        uses = [getattr(kind, use) for use in USES if hasattr(kind, use)]
        base = Path(folder, "sound" + kind.suffix)
        base.write_bytes(
            kind.raws[0] if isinstance(kind.raws[0], bytes) else kind.raws[0].encode()
        )
        assert outcome(uses[0], str(base)) == "taken"
        limit_memory()
        counts, findings = collections.Counter(), collections.Counter()
        for number in range(int(wanted)) if only is None else [int(only)]:
            path = Path(folder, f"{number}{kind.suffix}")
            path.write_bytes(kind.make(machine.rng(name, number)))
            for use in uses:
                signal.alarm(SECONDS)
                try:
                    counts[outcome(use, str(path))] += 1
                except (Exception, TooLong) as error:
                    tell(name, number, error, findings, only is not None)
                finally:
                    signal.alarm(0)
            for left in Path(folder).glob(f"{number}{kind.suffix}*"):
                left.unlink()
    print(f"{name}: {dict(counts)}, {sum(findings.values())} findings")
    if findings:
        sys.exit(1)
    print("done")


def tell(name, number, error, findings, fully):
    """One line for each place that an exception comes from, with the words that repeat it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
    key = f"{type(error).__name__} {str(error)[:90]!r} at {place}"
    findings[place] += 1
    if findings[place] == 1:
        print(f"MICROZO_SEED={machine.SEED} mutant_worker.py {name} 1 {number}: {key}", flush=True)
    if fully:
        traceback.print_exception(error)


if __name__ == "__main__":
    main(*sys.argv[1:])
