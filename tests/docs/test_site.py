"""`make docs`: a site with the API and a search, which needs no network; broken links end it."""

import pathlib
import re
import sys

import browser
import pytest

for package in ("material", "mkdocstrings"):
    pytest.importorskip(package, reason="the extra `docs` is not installed")
pytestmark = pytest.mark.slow
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "boards" / "tools"))

import docs_site  # noqa: E402


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    docs_site.build(out)
    return out


def test_every_page_is_there(site):
    pages = [name for name in docs_site.pages() if name.endswith(".md")]
    assert len(pages) > 30
    for name in pages:
        folder, _, leaf = name.rpartition("/")
        html = "index" if leaf == "README.md" else leaf.removesuffix(".md")
        assert (site / folder / f"{html}.html").is_file(), name


def test_nothing_comes_from_the_network(site):
    loads = re.compile(r"<(?:script|img|iframe)[^>]+src=\"([^\"]+)|<link [^>]*href=\"([^\"]+)")
    asked = {
        address
        for page in site.rglob("*.html")
        for pair in loads.findall(page.read_text())
        for address in filter(None, pair)
    }
    assert len(asked) > 5
    assert [address for address in asked if "//" in address] == []
    styles = "".join(path.read_text() for path in site.rglob("*.css"))
    assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*|@import[^;]*", styles) == []


def test_the_api_has_docstrings_and_types(site):
    text = (site / "docs" / "reference" / "api.html").read_text()
    plain = re.sub(r"<[^>]+>", "", text)
    assert "Trains what microzo.load gave." in plain
    assert "Yields a Step after every step." in plain
    assert "Trains with recipes on this computer" in plain
    assert 'id="microzo.train.trainer.Trainer.run"' in text
    assert re.search(r"predict\(\s*sample:", plain)  # from the stub


def test_search_works_without_a_server(site):
    page = browser.dom((site / "index.html").as_uri() + "?q=refilter", wait=5000)
    found = re.search(r"(\d+) matching documents", page)
    assert found and int(found[1]) > 3
    assert "Realign and refilter" in re.sub("<[^>]+>", "", page)


def test_broken_links_end_it(tmp_path, monkeypatch):
    def with_it(text):
        broken = "[x](nothing.md) [y](SPEC.md#nowhere)"
        return text + (f"\n{broken}\n" if text.startswith("# Changelog") else "")

    monkeypatch.setattr(docs_site, "indented", with_it)
    monkeypatch.setattr(docs_site, "pages", lambda: ["CHANGELOG.md", "SPEC.md", "README.md"])
    monkeypatch.setattr(docs_site, "linked", lambda names: [])
    monkeypatch.setattr(docs_site, "navigation", lambda index: [{"x": "CHANGELOG.md"}])
    with pytest.raises(SystemExit, match="the site is not built") as told:
        docs_site.build(tmp_path)
    assert "nothing.md" in str(told.value) and "#nowhere" in str(told.value)


def test_lists_are_indented_as_mkdocs_wants():
    text = "- a\n  b\n\n  ```\n  c\n  ```\n\nd\n1. e\n\n   f\n     g\n  not a list\n"
    assert docs_site.indented(text) == (
        "- a\n    b\n\n    ```\n    c\n    ```\n\nd\n1. e\n\n    f\n      g\n  not a list\n"
    )


def test_the_navigation_is_that_of_the_index():
    nav = docs_site.navigation((ROOT / "docs" / "README.md").read_text())
    sections = [next(iter(entry)) for entry in nav]
    assert sections[0] == "microzo" and {"How-to", "Reference"} <= set(sections)
    how_to = nav[sections.index("How-to")]["How-to"]
    assert {"Look at a run": "docs/howto/look-at-a-run.md"} in how_to
