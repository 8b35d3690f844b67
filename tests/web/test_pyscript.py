"""docs/howto/browser.md's page in PyScript, with the wheel of `make web`.

PYSCRIPT_DIR names a folder in which `npm install @pyscript/core
@micropython/micropython-webassembly-pyscript` was run; nothing is fetched here.
"""

import os
import pathlib
import re
import shutil

import browser
import pytest

import microzo
from microzo_host import place

PAGE = place.CLONE / "build" / "web"
NPM = os.environ.get("PYSCRIPT_DIR")
HOWTO = (place.CLONE / "docs" / "howto" / "browser.md").read_text()
HEAD = '<!doctype html><script type="module" src="/pyscript/core.js"></script>\n'

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not NPM, reason="set PYSCRIPT_DIR to a folder with PyScript's packages"),
    pytest.mark.skipif(not (PAGE / "index.html").is_file(), reason="no build/web: run `make web`"),
    pytest.mark.skipif(not browser.CHROMIUM, reason="no Chromium: `make packages-browser`"),
]


@pytest.fixture
def site(tmp_path, model_path):
    """A web folder with PyScript, its MicroPython, our wheel and a model."""
    modules = pathlib.Path(NPM).absolute() / "node_modules"
    (tmp_path / "pyscript").symlink_to(modules / "@pyscript" / "core" / "dist")
    name = "micropython-webassembly-pyscript"
    (tmp_path / "theirs").symlink_to(modules / "@micropython" / name)
    for path in (*PAGE.glob("*.whl"), *PAGE.glob("micropython.*")):
        shutil.copy(path, tmp_path)
    shutil.copy(model_path, tmp_path / "model.safetensors")
    return tmp_path


def has_frozen_library():
    return b"pathlib.py" in (PAGE / "micropython.wasm").read_bytes()


@pytest.mark.parametrize("interpreter", ["./theirs/micropython.mjs", "./micropython.mjs"])
def test_the_page_of_the_howto(interpreter, site, tmp_path_factory, model_path):
    if "theirs" not in interpreter and not has_frozen_library():
        pytest.skip("build/web has no micropython-lib: make web MICROPYTHON_LIB=folder")
    page, line = re.findall(r"^```html\n(.*?)^```", HOWTO, re.M | re.S)
    line = line.replace("./micropython.mjs", interpreter)
    page = page.replace("packages =", line + "packages =")
    page = page.replace('"class %d" % answer', '"class %d " % answer + microzo.kernels().__name__')
    (site / "page.html").write_text(HEAD + page)
    with browser.served(site) as url, browser.Browser(tmp_path_factory.mktemp("profile")) as tab:
        tab.open(url + "page.html")
        tab.wait_for("document.getElementById('answer')?.textContent")
        said = tab.value("document.getElementById('answer').textContent")
    model = microzo.load(model_path)
    kernels = "microzo.kernel.python" if "theirs" in interpreter else "_microzo"
    assert said == f"class {model.predict(bytes(model.sample_len))} {kernels}"
