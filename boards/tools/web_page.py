"""Makes the page of `make web`, one folder of files without a server: web_page.py WASM OUT.

WASM has what build_web.sh built. Python finds the package, the page's own module and the demo's
files in its file system; documents are the demo, the editor and the labs in docs/labs. OUT/mip and
the wheel beside it are the package for other pages: `mip` takes the one, PyScript the other.
"""

import base64
import functools
import json
import re
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

import markdown_cells as markdown

from microzo_host.demo import prepare

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "boards" / "web" / "page"
LABS = ROOT / "docs" / "labs"
DEVICE = ROOT / "device"
STATIC = (".html", ".css", ".js")
IGNORED = shutil.ignore_patterns("__pycache__", "*.mpy")
METADATA = "Metadata-Version: 2.1\nName: microzo-pyscript\nVersion: {}\nLicense: MIT\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: microzo\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
TEST = 200  # samples
# What MicroPython does not have: the code of such a page is shown, not run.
PC_ONLY = r"^\s*(?:import|from) (?:numpy|matplotlib|sklearn|skl2onnx|microzo_host)\b"
PC_NOTE = "<p><em>This page needs packages of a PC. Its code does not run in a browser.</em></p>"
LINK = r'<a href="([^"]*)">(.*?)</a>'


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
    return {"model.safetensors": folder / "model.safetensors"} | case.files


def python_files():
    files = {f"/lib/{p.relative_to(DEVICE).as_posix()}": p for p in DEVICE.glob("microzo/**/*.py")}
    return files | {"/lib/page.py": PAGE / "page.py"}


def lab_files(folder):
    """Model and data of the labs, and what lies beside their pages for their cells."""
    if not LABS.is_dir():
        return {}
    files = {path.name: path for path in LABS.glob("*.py")}
    try:
        from microzo_host.labs import data
    except ImportError:
        return files
    try:
        data.make(folder)
    except OSError as e:
        print(f"* the labs are there without their data: {e}")
    return files | {path.name: path for path in folder.iterdir()}


def sheets():
    """The pages of the labs, those with cells first; solutions stay with the teacher."""
    pages = [p for p in LABS.glob("*.md") if not p.stem.endswith(("solution", "teacher"))]
    return sorted(pages, key=lambda page: ("```python" not in page.read_text(), page.name))


def document(path, folder, names):
    """What the page shows of a file; Python works in `folder` there."""
    text = path.read_text()
    parts = markdown.parts(text)
    if any(re.search(PC_ONLY, part.get("code", ""), re.M) for part in parts):
        parts = [{"html": PC_NOTE + markdown.blocks(text)}]
    for part in parts:
        if "html" in part:
            part["html"] = re.sub(LINK, functools.partial(_linked, names), part["html"])
    return {"name": path.stem, "title": markdown.title(text), "folder": folder, "parts": parts}


def _linked(names, link):
    """A link to the web or to another document; of others only the text is left."""
    target = link[1]
    if target.startswith("http"):
        return f'<a href="{target}" target="_blank" rel="noopener">{link[2]}</a>'
    stem = Path(target.partition("#")[0]).stem
    return f'<a href="#{stem}">{link[2]}</a>' if stem in names else link[2]


def documents():
    """The demo and the editor, then the labs."""
    pages = [(PAGE / "demo.md", "/demo"), (PAGE / "editor.md", "/demo")]
    pages += [(path, "/labs") for path in sheets()]
    names = {path.stem for path, _ in pages}
    return [document(path, folder, names) for path, folder in pages]


def mip(folder):
    """The package as `mip` takes it: its sources, and their list."""
    shutil.copytree(DEVICE / "microzo", folder / "microzo", ignore=IGNORED)
    shutil.copy(DEVICE / "package.json", folder)


def wheel(folder):
    """The package as PyScript's `packages` takes it for MicroPython: an archive to unpack."""
    version = json.loads((DEVICE / "package.json").read_text())["version"]
    info = f"microzo_pyscript-{version}.dist-info"
    with zipfile.ZipFile(folder / f"microzo_pyscript-{version}-py3-none-any.whl", "w") as archive:
        # A folder's own files come first: PyScript makes one level of folders at a time.
        for path in sorted(DEVICE.glob("microzo/**/*.py"), key=lambda p: (len(p.parts), p)):
            _add(archive, path.relative_to(DEVICE).as_posix(), path.read_text())
        _add(archive, f"{info}/METADATA", METADATA.format(version))
        _add(archive, f"{info}/WHEEL", WHEEL)


def _add(archive, name, text):
    """The same archive whenever it is made."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    archive.writestr(entry, text, zipfile.ZIP_DEFLATED)


def main():
    wasm, out = map(Path, sys.argv[1:])
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path in sorted(PAGE.iterdir()):
        if path.suffix in STATIC:
            shutil.copy(path, out)
    for name in ("micropython.mjs", "micropython.wasm"):
        shutil.copy(wasm / name, out)
    files = python_files()
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (("demo", demo_files), ("labs", lab_files)):
            Path(folder, name).mkdir()
            made = make(Path(folder, name))
            files |= {f"/{name}/{file}": path for file, path in made.items()}
        text = json.dumps({name: packed(path) for name, path in files.items()})
    (out / "files.json").write_text(text)
    mip(out / "mip")
    wheel(out)
    (out / "documents.json").write_text(json.dumps(documents()))
    files = [path for path in out.rglob("*") if path.is_file()]
    print(f"* {out}: {len(files)} files, {sum(path.stat().st_size for path in files):,} bytes")


if __name__ == "__main__":
    main()
