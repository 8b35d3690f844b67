"""Forward passes a second and core of the library for CPython: part of `make bench`.

    python tests/bench/host_speed.py

Seconds are those of the processor's time that the passes took, the best of several rounds. Writes
build/bench/host.json.
"""

import json
import time

import baremetal
import goals
import models

import microzo
from microzo_host import native

OUT = baremetal.ROOT / "build" / "bench"
ROUNDS, SECONDS = 5, 0.3


def rate(model):
    """Passes a second, input included."""
    sample = bytes(range(256)) * (model.sample_len // 256 + 1)
    sample = sample[: model.sample_len]
    best = 0
    for _ in range(ROUNDS):
        begun, passes = time.process_time(), 0
        while (spent := time.process_time() - begun) < SECONDS:
            for _ in range(20):
                model.predict(sample)
            passes += 20
        best = max(best, passes / spent)
    return round(best)


def rows(files):
    """A row for each model and kind of kernels; the library is left with the faster ones."""
    for vectors in (False, True):
        if native.vectors(vectors) != vectors:
            continue  # this processor has none
        for name, file in files.items():
            yield {"model": name, "vectors": vectors, "per_second": rate(microzo.load(str(file)))}


def main():
    """Counts, writes, prints."""
    counted = list(rows(models.model_files(OUT / "models")))
    (OUT / "host.json").write_text(json.dumps(counted, indent=1) + "\n")
    print("\nforward passes a second and core, library for CPython")
    for row in counted:
        goal = goals.HOST.get(row["model"]) if row["vectors"] else None
        mark = f" {'!' if row['per_second'] < goal else '>'} {goal:,}" if goal else ""
        kind = "vectors" if row["vectors"] else "any processor"
        print(f"{row['model']:<18}{kind:<16}{row['per_second']:>10,}{mark}")


if __name__ == "__main__":
    main()
