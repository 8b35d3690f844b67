"""Every page: links lead somewhere, lines are short, commands exist."""

import functools
import pathlib
import re
import shlex

import pytest

from microzo_host import cli

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = {".git", ".venv", "build"}
PAGES = sorted(
    page
    for page in ROOT.rglob("*.md")
    if not SKIPPED & set(page.relative_to(ROOT).parts)
    and not any(part.startswith(".") for part in page.relative_to(ROOT).parts)
)
LONGEST = 400  # characters of a line of prose
PROGRAMS = {".", ".venv/bin/python", "mpremote", "pip"}  # beside make and microzo
GENERATED_ABOVE = "<!-- notes:"  # `make study` writes what is above, a paragraph a line


def name(page):
    return page.relative_to(ROOT).as_posix()


def without_code(text):
    return re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.M | re.S)


@functools.cache
def anchors(page):
    """The names by which a browser finds the headings of a page."""
    slugs = set()
    for heading in re.findall(r"^#+ (.*)$", without_code(page.read_text()), re.M):
        words = re.sub(r"[^\w\- ]", "", heading.strip().lower())
        slug = words.replace(" ", "-")
        number = 1
        while slug in slugs:
            slug = f"{words.replace(' ', '-')}-{number}"
            number += 1
        slugs.add(slug)
    return slugs


def links(page):
    return re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text()))


def commands(text):
    """Lines of the sh blocks, without comments."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words:
                yield words


def broken(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            yield f"{link}: no such file"
        elif anchor and anchor not in anchors(target):
            yield f"{link}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    assert list(broken(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_lines_of_prose_are_short(page):
    text = page.read_text()
    if GENERATED_ABOVE in text:
        text = text[text.index(GENERATED_ABOVE) :]
    lines = [line for line in without_code(text).splitlines() if not line.startswith("|")]
    assert [line for line in lines if len(line) > LONGEST] == []


def unknown_command(words):
    """What is wrong with a command, or None."""
    targets = re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M)
    program, *rest = words
    if program == "make":
        named = [word for word in rest if "=" not in word]
        return next((f"make {word}" for word in named if word not in targets), None)
    if program == "microzo":
        return None if rest[0] in cli.main.list_commands(None) else f"microzo {rest[0]}"
    return None if program in PROGRAMS else program


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_exist(page):
    assert [e for e in map(unknown_command, commands(page.read_text())) if e] == []


def test_the_checks_can_fail(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A b: c\n[x](#a-b-c) [y](#d) [z](none.md)\n```sh\nmake nothing\nmicrozo no\n```\n"
    )
    assert list(broken(page)) == ["#d: no such heading", "none.md: no such file"]
    assert [unknown_command(words) for words in commands(page.read_text())] == [
        "make nothing",
        "microzo no",
    ]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_private_idiom_does_not_come_back(page):
    """Phrases that readers from outside stumbled over."""
    text = " ".join(page.read_text().lower().split())
    phrases = ("honest words", "predictions say more", "takes as many as have room")
    assert [phrase for phrase in phrases if phrase in text] == []


def test_every_page_of_docs_is_in_the_index():
    index = ROOT / "docs" / "README.md"
    targets = {(index.parent / link.partition("#")[0]).resolve() for link in links(index)}
    missing = {page for page in PAGES if "docs" in page.relative_to(ROOT).parts[:1]} - targets
    assert {name(page) for page in missing} == {"docs/README.md"}


def test_numbers_of_the_specification_that_the_code_cites_are_in_its_table():
    table = set(re.findall(r"^\| ([\d.]+) \|", (ROOT / "SPEC.md").read_text(), re.M))
    citation = re.compile(r"SPEC\.md,? (?:section )?(\d[\d.]*\d|\d)")
    cited = set()
    for folder in ("device", "host_tools", "native_modules", "tests"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".c", ".h"):
                cited |= set(citation.findall(path.read_text()))
    assert len(cited) > 10 and cited <= table
