"""Writes goldens.json anew from the code as it is, and prints what changed.

    python tests/golden/regenerate.py [FIELD...]

FIELDs (of golden_run.FIELDS) are those that may change in old cases; if another one does, nothing
is written. Without any, only new cases are added. Goldens are the bits that users' boards hold.
They change only in a commit whose message has a sentence that says why; "the test failed" is no
reason.
"""

import collections
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import golden_run  # noqa: E402


def changes(before, after):
    """{name: fields that differ, or "new" or "gone"} of two sets of goldens."""
    report = {name: ("gone",) for name in before if name not in after}
    for name, new in after.items():
        old = before.get(name)
        fields = tuple(f for f in golden_run.FIELDS if old and old[f] != new[f])
        if fields or not old:
            report[name] = fields or ("new",)
    return report


def main(allowed):
    unknown = set(allowed) - set(golden_run.FIELDS)
    if unknown:
        raise ValueError(f"no fields {sorted(unknown)}, there are {golden_run.FIELDS}")
    before = golden_run.read() if golden_run.GOLDENS.exists() else {}
    with tempfile.TemporaryDirectory() as sets, tempfile.TemporaryDirectory() as out:
        golden_run.make_sets(sets)
        after = golden_run.on_cpython(sets, out, golden_run.cases(slow=True))
    report = changes(before, after)
    refused = {}
    for name, fields in report.items():
        others = [f for f in fields if f in golden_run.FIELDS and f not in allowed]
        if others:
            refused[name] = others
            print(f"{name}: {' '.join(others)} may not change")
    if not refused:
        golden_run.write(after)
    for fields, count in collections.Counter(report.values()).items():
        print(f"{count} of {len(after)} cases: {' '.join(fields)}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
