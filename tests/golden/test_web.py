"""The bits of the WebAssembly port, which browsers run, under node (`make web` builds it)."""

import shutil
import subprocess

import golden_run
import pytest

from microzo_host import place

WASM = place.CLONE / "build" / "wasm" / "micropython.mjs"
NODE = place.CLONE / "boards" / "web" / "node.mjs"
RECIPES = "realign spsa head tail forward_only default demo-default".split()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not WASM.is_file(), reason="no build/wasm: run `make web`"),
    pytest.mark.skipif(not shutil.which("node"), reason="no node: `make web` installs it"),
]


def test_recipes_under_node(tmp_path):
    sets = golden_run.make_sets(tmp_path)
    cases = golden_run.prepare(tmp_path, golden_run.cases(names=RECIPES))
    folders = {place.CLONE / "device" / "microzo": "/lib/microzo", sets: "/sets", cases: "/cases"}
    done = subprocess.run(
        ["node", NODE, WASM, golden_run.RUNNER, *(f"{a}={b}" for a, b in folders.items()), "--",
         "/cases", "/sets/", "/"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "pure-Python" not in done.stdout
    goldens = golden_run.read()
    assert golden_run.parse(done.stdout) == {name: goldens[name] for name in RECIPES}
