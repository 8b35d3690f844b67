"""What is said before a run: settings that do not exist, stages that do not run as asked for,
samples that one cannot learn from. Imported for that alone, and forgotten."""

import sys

_OPTIONS = (
    "model recipe layers seed journal ram sync_every checkpoint_every board_id cache cache_file"
).split()
_FEW = 8  # samples of a class
_LOOKS = 16  # samples that are looked at


def misspelt(options):
    """TypeError: keyword arguments that Trainer does not have."""
    from ..board.nearest import meant

    name = sorted(options)[0]
    return TypeError("Trainer has no %s: %s" % (name, meant(name, _OPTIONS)))


def warn(model, notes, data, index, label):
    """Prints a line for each thing that a run does not have as it was asked for: the notes of its
    program, then what is wrong with its samples; index and label: None for live ones."""
    if index is not None:
        notes = notes + of_labels(label, model.classes) + of_samples(model, data, index)
    for text in notes:
        say(text)


def say(text):
    """Prints a warning."""
    out = sys.stderr if sys.implementation.name == "cpython" else sys.stdout
    print("microzo: warning: " + text, file=out)


def of_labels(label, classes):
    """Sentences on the labels of the draw (None: there are none)."""
    if label is None:
        return []
    least = classes * _FEW
    present = set(label)
    if len(present) == 1 and classes > 1:
        return [
            "all %d samples are of class %d, the model will learn to say nothing else: take "
            "samples of every class" % (len(label), label[0])
        ]
    if len(label) < least:
        return [
            "%d samples of %d classes are few, what is learned may not hold for others: take %d "
            "or more" % (len(label), classes, least)
        ]
    absent = [c for c in range(classes) if c not in present]
    if absent:
        return [
            "no sample is of class %s, the model may forget it: take samples of every class"
            % ", ".join(str(c) for c in absent)
        ]
    return []


def of_samples(model, data, index):
    """Sentences on the values of the first samples of the draw."""
    buf = bytearray(model.sample_len)
    flat = same = True
    high = first = 0
    for j in range(min(_LOOKS, len(index))):
        data.read_into(index[j], buf)
        top = max(buf)
        flat = flat and top == min(buf)
        high = max(high, top)
        crc = model.k.crc32(buf, 0, len(buf))
        first = first if j else crc
        same = same and crc == first
    if high <= 1 and model.sample_len > 1:
        return [
            "the samples hold no value above %d: uint8 samples are 0..255, floats of 0..1 become "
            "that by (255 * x).round()" % high
        ]
    if flat and model.sample_len > 1:
        return ["every sample has one value everywhere: are these the right files?"]
    if same and len(index) > 1:
        return ["the first samples are all the same: are these the right files?"]
    return []
