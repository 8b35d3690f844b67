"""What `make web` makes of pages: cells, text of a PC, links."""

import sys

from microzo_host import place

sys.path.append(str(place.CLONE / "boards" / "tools"))

import web_page  # noqa: E402

NAMES = {"glossary", "lab"}


def made(tmp_path, text):
    path = tmp_path / "lab.md"
    path.write_text(text)
    return web_page.document(path, "/labs", NAMES)


def test_cells_run_where_their_files_are(tmp_path):
    lab = made(tmp_path, "# Lab\n\nText.\n\n```python\nimport microzo\n```\n")
    assert (lab["name"], lab["title"], lab["folder"]) == ("lab", "Lab", "/labs")
    assert lab["parts"][1:] == [{"code": "import microzo"}]


def test_code_for_a_pc_is_text(tmp_path):
    text = "# Lab\n\n```python\nimport microzo\n```\n\n```python\nimport numpy as np\n```\n"
    (part,) = made(tmp_path, text)["parts"]
    assert part["html"].startswith(web_page.PC_NOTE) and part["html"].count("<pre>") == 2


def test_links(tmp_path):
    (part,) = made(tmp_path, "# L\n\n[a](glossary.md#b) [c](../x.md) [d](https://e.org/f)\n")[
        "parts"
    ]
    assert '<a href="#glossary">a</a> c <a href="https://e.org/f" target=' in part["html"]
