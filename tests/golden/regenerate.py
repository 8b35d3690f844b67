"""Writes goldens.json anew from the code as it is, and prints what changed.

    python tests/golden/regenerate.py

Goldens are the bits that users' boards hold. They change only in a commit whose message has a
sentence that says why; "the test failed" is no reason. A new case changes no old line.
"""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import golden_run  # noqa: E402


def main():
    before = golden_run.read() if golden_run.GOLDENS.exists() else {}
    with tempfile.TemporaryDirectory() as sets, tempfile.TemporaryDirectory() as out:
        golden_run.make_sets(sets)
        goldens = golden_run.on_cpython(sets, out, golden_run.cases(slow=True))
    golden_run.write(goldens)
    for name in {**before, **goldens}:
        old, new = before.get(name), goldens.get(name)
        if old != new:
            fields = [f for f in golden_run.FIELDS if not old or not new or old[f] != new[f]]
            word = "gone" if not new else "changed" if old else "new"
            print(f"{name}: {word} ({', '.join(fields)})")


if __name__ == "__main__":
    main()
