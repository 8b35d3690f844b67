"""The command line of the scripts that write generated files."""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def differing(texts):
    """Those of {path: its text as it must be} whose file has another text."""
    return {path: text for path, text in texts.items() if path.read_text() != text}


def run(description, texts):
    """--write writes the files of {path: text} that differ; --check names them. Exit status."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true")
    choice.add_argument("--check", action="store_true")
    write = parser.parse_args().write
    changes = differing(texts)
    for path, text in changes.items():
        if write:
            path.write_text(text)
        else:
            print(f"{path.relative_to(ROOT)} is out of date: run make generated")
    return 0 if write or not changes else 1
