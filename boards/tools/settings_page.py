"""Writes what the reference pages say of settings, rules and recipes, from their declarations.

settings_page.py --write writes the pages; settings_page.py --check names those that differ.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "device"), str(ROOT / "host_tools")]

from microzo_host.report import settings  # noqa: E402


def pages():
    """{path: its text as it must be}"""
    texts = {}
    for marker, (page, _) in settings.PAGES.items():
        path = ROOT / page
        texts[path] = settings.replaced(texts.get(path) or path.read_text(), marker)
    return texts


def stale():
    """Paths of the pages that differ."""
    return [path for path, text in pages().items() if path.read_text() != text]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true")
    choice.add_argument("--check", action="store_true")
    if parser.parse_args().write:
        for path, text in pages().items():
            path.write_text(text)
        return 0
    paths = stale()
    for path in paths:
        print(f"{path.relative_to(ROOT)} is out of date: run make generated")
    return 1 if paths else 0


if __name__ == "__main__":
    sys.exit(main())
