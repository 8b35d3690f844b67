"""Ctrl-C between any two bytecodes of the package: the run that goes on ends in the same bits.

    MICROZO_SEED=1 python tests/fuzz/interrupt_worker.py COUNT [CASE]

A case draws a recipe, a journal or none, and the bytecodes before which a KeyboardInterrupt comes;
then the same trainer goes on, as a person does who presses Ctrl-C and calls run() again.
"""

import sys
import tempfile
from pathlib import Path

import draw
import machine
import small

import microzo
from microzo.recipes.names import RECIPES

PACKAGE = str(Path(microzo.__file__).parent)
MOST = 3  # interrupts of a case
LIVE = 50  # samples of a live one
BEHIND = 8  # bytecodes of a step in which it returns: only the caller knows whether it did


class Bytecodes:
    """Counts the bytecodes of the package inside `with`; before number `stop` comes a Ctrl-C."""

    def __init__(self, stop=None):
        self.count, self._stop = 0, stop

    def __enter__(self):
        sys.settrace(self._call)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def _call(self, frame, event, _):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._opcode

    def _opcode(self, frame, event, _):
        if event == "opcode":
            self.count += 1
            if self.count == self._stop:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self._opcode


def finish(trainer, data):
    for _ in trainer.run(data):
        pass


def case(number, folder, model_path, data):
    """Interrupts that came; AssertionError if a bit differs."""
    rng = machine.rng("interrupts", number)
    made, layers, options = draw.run(rng, number)
    journalled = rng.random() < 0.7

    def new(name):
        journal = str(folder / f"{number}.{name}") if journalled else None
        model = microzo.load(model_path)
        return model, microzo.Trainer(model, made, layers, journal=journal, **options)

    whole, trainer = new("whole")
    with Bytecodes() as all_of_it:
        finish(trainer, data)
    model, trainer = new("cut")
    came = 0
    for _ in range(rng.randint(1, MOST)):
        try:
            with Bytecodes(rng.randint(1, all_of_it.count)):
                finish(trainer, data)
        except KeyboardInterrupt:
            came += 1
    finish(trainer, data)
    assert bytes(model.state) == bytes(whole.state), "other bits in the state"
    if journalled:
        journals = [(folder / f"{number}.{name}").read_bytes() for name in ("whole", "cut")]
        assert journals[0] == journals[1], "other bits in the journal"
    return came


def live_case(number, folder, model_path, data):
    """The same of live samples: the one whose step was interrupted is given again."""
    rng = machine.rng("interrupts", number)
    made = small.short(rng.choice(sorted(RECIPES)), samples=16)
    made["live"] = 8
    journalled = rng.random() < 0.6
    samples = []
    for i in range(LIVE):
        buf = bytearray(data.sample_len)
        label = data.read_into(i, buf)
        samples.append((bytes(buf), label))

    def run(name, sample=None, stop=None):
        """(state, outcomes, bytes of the journal, bytecodes of each sample, interrupts)."""
        path = folder / f"{number}.{name}"
        model = microzo.load(model_path)
        journal = str(path) if journalled else None
        trainer = microzo.Trainer(model, made, seed=number + 1, journal=journal)
        counts, came = [], 0
        for i in range(LIVE):
            with Bytecodes(stop if i == sample else None) as counted:
                try:
                    trainer.step(*samples[i])
                except KeyboardInterrupt:
                    came += 1
            if came and i == sample:
                trainer.step(*samples[i])
            counts.append(counted.count)
        content = path.read_bytes() if journalled else None
        return bytes(model.state), trainer.outcomes(), content, counts, came

    *whole, counts, _ = run("whole")
    busy = sorted(range(LIVE), key=counts.__getitem__)[-LIVE // 2 :]  # those that do something
    sample = rng.choice(busy)
    # the last of them stand behind what counts the sample
    *again, _, came = run("cut", sample, rng.randint(1, counts[sample] - BEHIND))
    assert again == whole, f"other bits after a Ctrl-C in live sample {sample}"
    return came


def main(wanted, only=None):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        model = small.write_model(folder / "m.safetensors")
        data = microzo.Dataset(*small.write_data(folder, model))
        came = number = 0
        while came < int(wanted):
            chosen = number if only is None else int(only)
            try:
                came += (case, live_case)[chosen % 4 == 3](chosen, folder, model, data)
            except BaseException:
                print(f"MICROZO_SEED={machine.SEED} interrupt_worker.py 1 {chosen}", flush=True)
                raise
            number += 1
            if only is not None:
                break
    print(f"{came} interrupts in {number} runs\ndone")


if __name__ == "__main__":
    main(*sys.argv[1:])
