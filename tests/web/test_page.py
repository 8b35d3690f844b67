"""The page of `make web` in a headless Chromium: cells, plots, the console, and Python anew."""

import json
import os
import re

import browser
import pytest

from microzo_host import place

PAGE = place.CLONE / "build" / "web"
READY = "document.getElementById('state').textContent === 'ready'"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (PAGE / "index.html").is_file(), reason="no build/web: run `make web`"),
    pytest.mark.skipif(not browser.CHROMIUM, reason="no Chromium: `make packages-browser`"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with (
        browser.served(PAGE) as url,
        browser.Browser(tmp_path_factory.mktemp("profile")) as running,
    ):
        running.open(url)
        running.wait_for(READY)
        yield running
        assert running.errors == []


def shown(page, what="document"):
    return page.value(f"document.getElementById('{what}').innerText")


def typed(page, *lines):
    """What the console says after lines that are entered."""
    before = len(shown(page, "console-out"))
    for line in lines:
        page.value(f"globalThis.microzo.enter({json.dumps(line)})")
    return shown(page, "console-out")[before:]


def test_the_demo_runs_from_end_to_end(page):
    cells = page.value("globalThis.microzo.cells().length")
    assert page.value("globalThis.microzo.runEverything()") == cells == 5
    text = shown(page)
    before, after = (
        float(re.search(rf"right {w}: +([\d.]+) %", text)[1]) for w in ("before", "after")
    )
    assert after > before + 10
    assert "the same bits: True" in text
    points = page.value("document.querySelector('.plot polyline').getAttribute('points')").split()
    assert len(points) > 10
    assert page.value("document.querySelectorAll('figure canvas').length") == 20


def test_a_cell_runs_again(page):
    """The longest one, which trains: what an earlier run has left is no obstacle."""
    cell = "globalThis.microzo.cells()[2]"
    page.value(f"{cell}.area.value += '\\nprint(\"again\")'")
    assert page.value(f"{cell}.run()") is True
    assert page.value(f"{cell}.node.querySelector('.out').innerText").endswith("again\n")


def test_the_console(page):
    assert typed(page, "6 * 7").endswith("42\n")
    assert typed(page, "for i in range(2):", "    print('i', i)", "").endswith("i 0\ni 1\n")
    assert "ZeroDivisionError" in typed(page, "1 / 0")
    assert typed(page, "import microzo", "microzo.kernels().__name__").endswith("'_microzo'\n")


def test_a_cell_that_fails_stops_the_others(page):
    page.value("location.hash = '#editor'")
    page.wait_for("globalThis.microzo.cells().length === 2")
    page.value("globalThis.microzo.cells()[0].area.value = 'nothing_of_that_name'")
    assert page.value("globalThis.microzo.runEverything()") == 0
    assert "NameError" in shown(page)


def test_python_starts_anew_while_a_cell_runs(page):
    page.value("globalThis.microzo.cells()[0].area.value = 'while True: pass'")
    page.value(
        "globalThis.ended = 'no'; globalThis.microzo.cells()[0].run().then(v => ended = v); 0"
    )
    page.wait_for("document.getElementById('state').textContent === 'running'")
    page.value("document.getElementById('restart').click()")
    page.wait_for(READY)
    assert page.value("ended") is False
    assert "started anew" in shown(page)
    assert typed(page, "'model' in globals()").endswith("False\n")


def documents():
    path = PAGE / "documents.json"
    return json.loads(path.read_text()) if path.is_file() else []


LABS = [
    d["name"]
    for d in documents()
    if d["folder"] == "/labs" and any("code" in p for p in d["parts"])
]


def test_every_document_is_listed(page):
    titles = [d["title"] for d in documents()]
    assert page.value("[...document.querySelectorAll('nav a')].map(a => a.textContent)") == titles


@pytest.mark.skipif(not LABS, reason="no docs/labs when build/web was made")
def test_labs_run_from_end_to_end(page):
    """The first of them; all of them with MICROZO_FULL."""
    for name in LABS if os.environ.get("MICROZO_FULL") else LABS[:1]:
        page.value(f"location.hash = {json.dumps('#' + name)}")
        title = next(d["title"] for d in documents() if d["name"] == name)
        page.wait_for(f"document.title === {json.dumps(title + ' - microzo')}")
        cells = page.value("globalThis.microzo.cells().length")
        assert cells > 0
        assert page.value("globalThis.microzo.runEverything()") == cells, shown(page)[-1000:]
