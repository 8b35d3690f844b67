# Runs golden cases on CPython, the unix port and the board, through the public names alone.
# Arguments: a file of cases (golden_words.resolved), a JSON text a line, a folder of models and
# samples, a folder to write in. Prints a line a case: name, CRC of the state, of the saved model,
# of the journal, hash of the data, CRC of the guards' scores, steps.
import gc
import json
import os
import sys

import microzo


class Repeated:
    """A source of n samples that repeats those of another; labels come with samples."""

    def __init__(self, source, n):
        self._source = source
        self._n = n

    def __len__(self):
        return self._n

    def read_into(self, i, buf):
        label = self._source.read_into(i % len(self._source), buf)
        if i // len(self._source) & 1:  # half of them are unlike the others
            buf[i % len(buf)] ^= 255
        return label


def crc(data):
    return microzo.kernels().crc32(data, 0, len(data))


def journal_facts(path):
    """(CRC of header and records, hash of the data, CRC of the scores of guards).

    The text of RECIPE is left out, and its CRC in the header: the order of its keys is the
    platform's. This function alone knows the bytes of a journal (SPEC.md, section 5)."""
    with open(path, "rb") as f:
        head = f.read(48)
        whole = crc(head[:36])
        scores = 0
        while True:
            start = f.read(12)
            if len(start) < 12:
                break
            rest = f.read((start[2] | start[3] << 8) + 4)
            if start[0] != 1:  # without its own CRC, after which any CRC is the same
                whole = crc(whole.to_bytes(4, "little") + start + rest[:-4])
            if start[0] in (3, 4, 5):  # MARK, KEEP, ROLLBACK: correct, loss, total
                kind = bytes((start[0] + 4,))  # as version 1 numbered them, so that goldens stay
                scores = crc(scores.to_bytes(4, "little") + kind + rest[:12])
    data = head[20] | head[21] << 8 | head[22] << 16 | (head[23] & 63) << 24
    return whole, data, scores


def train(case, model, data, journal):
    """Steps that were done."""
    trainer = microzo.Trainer(model, case["recipe"], journal=journal, **case["options"])
    steps = 0
    if case["live"]:
        sample = bytearray(model.sample_len)
        for i in range(case["live"]):
            label = data.read_into(i % len(data), sample)
            trainer.step(bytes(sample), label if case["labels"] else None)
            steps += 1
        return steps
    if case["find_step"]:
        trainer.find_step(data)
    run = trainer.run(data, steps=case["steps"])
    if case["cut"]:
        for _ in range(case["cut"]):
            next(run)
        model.reset()
        run = microzo.resume(model, journal).run(data)
        steps = case["cut"]
    for _ in run:
        steps += 1
    return steps


def run_case(case, folder, out):
    path = folder + case["model"]
    data = microzo.Dataset(path + ".x.npy", path + ".y.npy" if case["labels"] else None)
    if case["repeat"]:
        data = Repeated(data, case["repeat"])
    model = microzo.load(path + ".safetensors")
    journal = out + "golden.journal"
    saved = out + "golden.safetensors"
    try:
        os.remove(journal)
    except OSError:
        pass
    steps = train(case, model, data, journal)
    state = crc(model.state)
    model.save(saved)
    model = None  # a board has no room for two, nor beside one for the whole file
    gc.collect()
    with open(saved, "rb") as f:
        file_crc = crc(f.read())
    if case["replay"]:
        model = microzo.load(path + ".safetensors")
        if microzo.replay(model, journal, data) is not True or crc(model.state) != state:
            state = -1  # no golden is this
    print(case["name"], state, file_crc, *journal_facts(journal), steps)


def main(cases, folder, out):
    with open(cases) as f:
        for line in f:  # all of them have no room on a board
            gc.collect()
            run_case(json.loads(line), folder, out)


if len(sys.argv) == 4:
    main(*sys.argv[1:])
