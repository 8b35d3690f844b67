"""Names of classes: from a file of labels, an option, or what a .tflite file carries."""

import json
import pathlib
import re
import zipfile

MOST, LONGEST = 1024, 64


def of(model):
    """The names in a model's metadata, else the classes' numbers."""
    given = json.loads(model.metadata.get("classes", "[]"))
    return given or [str(i) for i in range(model.classes)]


def put(model, given):
    """Store names in a model; their number must fit."""
    if len(given) != model.classes:
        raise ValueError(
            f"{len(given)} class names are given, the model has {model.classes} classes: "
            f"give one a class"
        )
    model.metadata["classes"] = json.dumps([str(name)[:LONGEST] for name in given])


def read(text):
    """Names out of ``a,b,c``, or of a file with one a line (``0 cat``, ``cat``) or a JSON list."""
    path = pathlib.Path(text)
    if path.is_file():
        return parse(path.read_text("utf-8", "replace"), text)
    if "," not in text:
        raise FileNotFoundError(f"{text} does not exist: give a file of labels, or names a,b,c")
    return [name.strip() for name in text.split(",")]


def parse(text, path):
    """Names in the text of a file of labels."""
    if text.lstrip().startswith("["):
        try:
            return [str(name) for name in json.loads(text)]
        except ValueError:
            raise ValueError(f"{path} is no JSON list of names: write one name a line") from None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    numbered = [re.match(r"(\d+)[\s:,]+(.+)", line) for line in lines]
    if lines and all(m and int(m[1]) == i for i, m in enumerate(numbered)):
        lines = [m[2].strip() for m in numbered]
    if not 1 <= len(lines) <= MOST:
        raise ValueError(f"{path} has {len(lines)} names: write one name a line")
    return lines


def inside(path, count):
    """The labels that TFLite's metadata put into a file, if there are ``count`` of them."""
    try:
        with zipfile.ZipFile(path) as packed:
            for info in packed.infolist():
                if info.filename.endswith(".txt") and info.file_size < 1 << 16:
                    labels = parse(packed.read(info).decode("utf-8", "replace"), path)
                    if len(labels) == count:
                        return labels
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return None
    return None
