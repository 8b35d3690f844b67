"""The sheets of docs/labs/: Markdown pages, their Python, and the same as notebooks and scripts.

Python blocks of a sheet run one after the other. A block that imports labkit or microzo begins a
*session*: a board is reset before it, so that all its memory is free. A block that begins with
the comment PC_ONLY is not for a board.
"""

import re

from .. import extras, place

BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
PAGES = ("README.md", "glossary.md")  # that lie beside the notebooks
SESSION = re.compile(r"^import (microzo|labkit)$", re.M)
PC_ONLY = "# On the PC\n"
SHELL_CELL = "%%sh\n"  # what jupytext makes of a block of commands


def folder():
    """Where the sheets lie: in a clone, or in the installed package."""
    return place.parts("labs")


def sheets():
    """Paths of the students' sheets, in order: 1-NAME.md to 6-NAME.md."""
    pages = sorted(folder().glob("[1-9]-*.md"))
    return [page for page in pages if page.stem[2:] not in ("solution", "teacher")]


def blocks(page):
    """The Python blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def sessions(page):
    """The blocks of a page for a board, a list for each session."""
    parts = []
    for code in blocks(page):
        if code.startswith(PC_ONLY):
            continue
        if not parts or SESSION.search(code):
            parts.append([])
        parts[-1].append(code)
    return parts


def scripts(page):
    """{name: source} of a page for `mpremote run`: lab4.py, or lab4a.py, lab4b.py for two
    sessions."""
    number, parts = page.stem[0], sessions(page)
    letters = "abcdefgh" if len(parts) > 1 else [""]
    head = f"# The code of {page.name}\n\n"
    return {
        f"lab{number}{letter}.py": head + "\n\n".join(codes)
        for letter, codes in zip(letters, parts)
    }


LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def relinked(text, present):
    """Text of a page for another folder: links to sheets lead to their notebooks, those to files
    that are not `present` there become plain words."""
    books = {page.name: f"{page.stem}.ipynb" for page in sheets()}

    def link(match):
        words, target, anchor = match.groups()
        target = books.get(target, target)
        there = target in present or target in books.values() or ":" in target
        return f"[{words}]({target}{anchor or ''})" if there else words

    return LINK.sub(link, text)


def notebook(page):
    """The text of a page as a Jupyter notebook; commands stay text, since Windows has no sh."""
    try:
        import jupytext
    except ImportError:
        raise extras.missing("notebooks need jupytext", "lab") from None
    text = relinked(page.read_text(encoding="utf-8"), PAGES)
    book = jupytext.reads(text, "md")
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number}"  # not a random one: the same page gives the same file
        if cell.cell_type == "code" and cell.source.startswith(SHELL_CELL):
            commands = cell.source.removeprefix(SHELL_CELL)
            book.cells[number] = type(cell)(
                cell_type="markdown", id=cell["id"], metadata={},
                source=f"```sh\n{commands}\n```",
            )  # fmt: skip
    book.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return jupytext.writes(book, "ipynb")
