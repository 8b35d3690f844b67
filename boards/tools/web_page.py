"""Makes the page of `make web`, one folder of files without a server: web_page.py WASM OUT.

WASM has what build_web.sh built. Python finds the package, the page's own module and the demo's
files in its file system; documents are the demo, the editor and the labs in docs/labs.
"""

import base64
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

import markdown

from microzo_host.demo import prepare

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "boards" / "web" / "page"
LABS = ROOT / "docs" / "labs"
STATIC = (".html", ".css", ".js")
TEST = 200  # samples


def packed(path):
    """A file as JSON holds it."""
    data = path.read_bytes()
    if path.suffix == ".py":
        return {"text": data.decode()}
    return {"base64": base64.b64encode(data).decode()}


def demo_files(folder):
    """The demo's network and its data in the fog, as files of a folder."""
    prepare.model("mnist", folder)
    case = prepare.case("mnist", "fog", prepare.CORRUPTIONS["mnist"]["fog"], folder, test=TEST)
    return {"/model.safetensors": folder / "model.safetensors"} | {
        f"/{name}": path for name, path in case.files.items()
    }


def python_files():
    package = ROOT / "device"
    files = {
        f"/lib/{p.relative_to(package).as_posix()}": p for p in package.glob("microzo/**/*.py")
    }
    return files | {"/lib/page.py": PAGE / "page.py"}


def document(path, name=None):
    text = path.read_text()
    return {
        "name": name or path.stem,
        "title": markdown.title(text),
        "parts": markdown.parts(text),
    }


def lab_files(folder):
    """Files beside the labs that their cells read."""
    kinds = (".npy", ".safetensors", ".json", ".py")
    return {f"/{p.name}": p for p in sorted(folder.glob("*")) if p.suffix in kinds}


def documents():
    """The demo and the editor, then every lab that has a cell."""
    made = [document(PAGE / "demo.md"), document(PAGE / "scratch.md")]
    for path in sorted(LABS.glob("*.md")):
        if re.search(r"^```python", path.read_text(), re.M):
            made.append(document(path))
    return made


def main():
    wasm, out = map(Path, sys.argv[1:])
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path in sorted(PAGE.iterdir()):
        if path.suffix in STATIC:
            shutil.copy(path, out)
    for name in ("micropython.mjs", "micropython.wasm"):
        shutil.copy(wasm / name, out)
    with tempfile.TemporaryDirectory() as folder:
        files = python_files() | lab_files(LABS) | demo_files(Path(folder))
        text = json.dumps({name: packed(path) for name, path in files.items()})
    (out / "files.json").write_text(text)
    (out / "documents.json").write_text(json.dumps(documents()))
    size = sum(path.stat().st_size for path in out.iterdir())
    print(f"* {out}: {len(list(out.iterdir()))} files, {size:,} bytes")


if __name__ == "__main__":
    main()
