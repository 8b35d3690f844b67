"""Writes what the reference pages say of settings, rules and recipes, from their declarations.

settings_page.py --write writes the pages; settings_page.py --check names those that differ.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("device", "host_tools", "boards/tools")]

import generated  # noqa: E402

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
    return list(generated.differing(pages()))


if __name__ == "__main__":
    sys.exit(generated.run(__doc__, pages()))
