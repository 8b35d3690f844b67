"""Coverage-guided fuzzing of the plan checker in Python, by atheris.

    MICROZO_SEED=1 python tests/fuzz/plan_fuzz.py CALLS

An input chooses a model and words of its plan that change. What the checker takes must load and
run; what it refuses, it refuses in a sentence. A finding is printed with its input.
"""

import struct
import sys
import tempfile
from pathlib import Path

import atheris
import machine

with atheris.instrument_imports(include=["microzo.net"]):
    import microzo
    from microzo.net import arena, check, load  # noqa: F401 (instrumented where they are loaded)

from mutant_kinds import GOLDEN, repair

from microzo_host.model import file as modelfile

MOST_MACS = 1 << 24  # of a model that is run


class Bases:
    """Models: their files in two parts, and the words of their plans."""

    def __init__(self, folder):
        self.path = str(Path(folder, "mutant.safetensors"))
        self.parts = []
        for path in sorted(GOLDEN.glob("*.safetensors")):
            raw = path.read_bytes()
            start = 8 + struct.unpack_from("<Q", raw)[0]
            words = modelfile.plan(modelfile.unpack(raw)).tolist()
            self.parts.append((raw[:start], raw[start:], words))

    def altered(self, data):
        """(header, tensors, words of the plan) of what an input describes."""
        head, body, words = self.parts[data[0] % len(self.parts)]
        words = list(words)
        for at in range(1, len(data) - 5, 6):
            where, value = struct.unpack_from("<Hi", data, at)
            words[where % len(words)] = value
        return head, body, words

    def load(self, head, body, words):
        body = bytearray(body)
        struct.pack_into(f"<{len(words)}i", body, 0, *words)
        repair(body, 4 * len(words))
        Path(self.path).write_bytes(head + bytes(body))
        return microzo.load(self.path)


def attempt(bases, data):
    if len(data) < 7:
        return
    head, body, words = bases.altered(data)
    try:
        check.validate(list(words))
    except ValueError as error:
        assert str(error) and "\n" not in str(error)
        return
    try:
        model = bases.load(head, body, words)
    except (ValueError, OSError, MemoryError) as error:
        assert str(error)
        return
    if sum(arena.macs(words, o) for o in arena.bases(words)) < MOST_MACS:
        model.predict(bytes(model.sample_len))


def seeds(folder, bases):
    """An input for every word of every plan, which changes nothing but this one by one."""
    for number, (_, _, words) in enumerate(bases.parts[:2]):
        for at, value in enumerate(words):
            changed = min(value + 1, (1 << 31) - 1)
            data = bytes([number]) + struct.pack("<Hi", at, changed)
            Path(folder, f"{number}-{at}").write_bytes(data)


def main(calls):
    folder = tempfile.TemporaryDirectory()
    corpus = Path(folder.name, "corpus")
    corpus.mkdir()
    bases = Bases(folder.name)
    seeds(corpus, bases)
    options = [f"-runs={calls}", f"-seed={machine.SEED}", "-max_len=61", "-rss_limit_mb=2048"]
    options += ["-timeout=60", f"-artifact_prefix={folder.name}/", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], str(corpus), *options], lambda data: attempt(bases, data))
    print("done", flush=True)  # the fuzzer ends the process: a finding makes its status bad
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1])
