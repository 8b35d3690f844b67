"""Cuts the power of simulated disks during training and saving, as often as is asked for.

    MICROZO_SEED=1 python tests/fuzz/cut_worker.py KIND CUTS [CASE]

KIND: littlefs, fat or posix. Each case trains a recipe, loses its power several times and goes on;
some have no room on the disk at first. It must end in the bits of the run without a cut. CASE:
only this one.
"""

import os
import sys
import tempfile
from pathlib import Path

KIND = sys.argv[1]
if KIND != "posix":  # boards have neither, and the package looks for them when it is imported
    del os.fsync, os.replace

import draw  # noqa: E402
import machine  # noqa: E402
import sim_disk  # noqa: E402
import small  # noqa: E402

import microzo  # noqa: E402
from microzo_host.model import file as modelfile  # noqa: E402
from microzo_host.model import quantize  # noqa: E402

MODEL, JOURNAL, OUT = (f"{sim_disk.ROOT}/{n}" for n in ("m.safetensors", "run", "out.safetensors"))
MOST_LIVES = 5  # of a case, before it may end


def life(made, layers, data, options):
    """What a board does when it starts: goes on or begins, and saves over the old result."""
    model = microzo.load(MODEL)
    try:
        steps = microzo.resume(model, JOURNAL, **options).run(data)
    except OSError as error:
        if "cannot open" not in str(error):
            raise
        trainer = microzo.Trainer(model, made, layers, journal=JOURNAL, **options)
        steps = trainer.run(data)
    for _ in steps:
        pass
    model.save(OUT)


def full(disk, room, *arguments):
    """A life on a disk with little room ends in one sentence; the next one has room again."""
    disk.has_room(room)
    with disk.mounted():
        try:
            life(*arguments)
        except OSError as error:
            assert "room" in str(error), str(error)
    disk.has_room(None)


def run(disk, *arguments):
    """True if a life came to its end, False if the power went."""
    with disk.mounted():
        try:
            life(*arguments)
        except sim_disk.Cut:
            return False
        except OSError:
            if not disk.dead:
                raise
            return False
        return not disk.dead


def case(number, raw, data):
    """Cuts that were made; AssertionError if a bit differs."""
    rng = machine.rng(KIND, number)
    made, layers, options = draw.run(rng, number)
    whole = sim_disk.Disk(KIND, rng, {MODEL: raw, OUT: raw})
    assert run(whole, made, layers, data, options)
    result, ticks = whole.content(), whole.ticks
    disk, cuts = sim_disk.Disk(KIND, rng, {MODEL: raw, OUT: raw}), 0
    if rng.random() < 0.3:
        added = sum(map(len, result.values())) - 2 * len(raw)
        full(disk, rng.randint(0, added), made, layers, data, options)
    for _ in range(rng.randint(1, MOST_LIVES)):
        disk.cut_at(rng.randint(1, ticks))
        if run(disk, made, layers, data, options):
            break
        cuts += 1
        disk = disk.after_cut()
        with disk.mounted():
            microzo.load(OUT)
    disk.cut_at(1 << 30)
    assert run(disk, made, layers, data, options)
    left = disk.content()
    assert left[OUT] == result[OUT], "other bits in the model"
    assert left[JOURNAL] == result[JOURNAL], "other bits in the journal"
    assert not [name for name in left if name.endswith(".tmp")], sorted(left)
    return cuts


def main(kind, wanted, only=None):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        raw = modelfile.pack(quantize.quantize(small.network(), small.images(200, 5)))
        (folder / "m").write_bytes(raw)
        data = microzo.Dataset(*small.write_data(folder, str(folder / "m")))
        cuts = number = 0
        while cuts < int(wanted):
            chosen = number if only is None else int(only)
            try:
                cuts += case(chosen, raw, data)
            except BaseException:
                print(f"MICROZO_SEED={machine.SEED} cut_worker.py {kind} 1 {chosen}", flush=True)
                raise
            number += 1
            if only is not None:
                break
    print(f"{kind}: {cuts} cuts in {number} runs\ndone")


if __name__ == "__main__":
    main(*sys.argv[1:])
