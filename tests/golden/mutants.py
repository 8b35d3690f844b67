"""Acceptance test of the goldens: one mutation of every formula must change some bit.

    python tests/golden/mutants.py [NAME...]      all of them, or those whose names contain NAME

A mutant is a snippet that occurs exactly once in device/microzo and what replaces it. The cases it
names are run on a copy of device/; if none differs from goldens.json, the quick cases are. Prints
what noticed, and ends with status 1 if a mutant survives.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import golden_run  # noqa: E402
from mutant_table import MUTANTS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "device" / "microzo"
_PATIENCE = 180  # seconds; all quick cases take about 5


def home(snippet):
    """The one file that has the snippet, relative to device/."""
    hits = [p for p in sorted(PACKAGE.rglob("*.py")) for _ in range(p.read_text().count(snippet))]
    if len(hits) != 1:
        raise ValueError(f"{snippet!r} occurs {len(hits)} times in device/microzo, not once")
    return hits[0].relative_to(PACKAGE.parent)


def noticed(sets, folder, names):
    """What differs, "case: fields" or the error; "" if nothing does."""
    out = pathlib.Path(folder, "out")
    out.mkdir(exist_ok=True)
    which = golden_run.cases(names=names)
    path = golden_run.prepare(out, which)
    search = os.pathsep.join((str(pathlib.Path(folder, "device")), str(ROOT / "host_tools")))
    try:
        done = subprocess.run(
            golden_run.command(path, sets, out), capture_output=True, text=True, timeout=_PATIENCE,
            env={**os.environ, "PYTHONPATH": search},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"does not end within {_PATIENCE} s"
    goldens = golden_run.read()
    for name, result in golden_run.parse(done.stdout).items():
        fields = [f for f in golden_run.FIELDS if result[f] != goldens[name][f]]
        if fields:
            return f"{name}: {' '.join(fields)}"
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def attempt(sets, mutant):
    """(name, what noticed it)."""
    name, old, new, names = mutant
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            PACKAGE, pathlib.Path(folder, "device", "microzo"),
            ignore=shutil.ignore_patterns("__pycache__"),
        )  # fmt: skip
        path = pathlib.Path(folder, "device", home(old))
        path.write_text(path.read_text().replace(old, new))
        found = names and noticed(sets, folder, names.split())
        return name, found or noticed(sets, folder, None)


def main(words):
    chosen = [m for m in MUTANTS if not words or any(word in m[0] for word in words)]
    for _, old, _, names in chosen:
        home(old)
        missing = set(names.split()) - {case["name"] for case in golden_run.cases(slow=True)}
        if missing:
            raise ValueError(f"no cases of these names: {sorted(missing)}")
    survivors = 0
    with tempfile.TemporaryDirectory() as sets:
        golden_run.make_sets(sets)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for name, what in pool.map(lambda mutant: attempt(sets, mutant), chosen):
                survivors += not what
                print(f"{'killed  ' if what else 'SURVIVED'} {name}  {what}", flush=True)
    print(f"{len(chosen)} mutants, {survivors} survivors")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
