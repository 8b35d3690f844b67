"""Builds the site: all pages of this tree and the API from docstrings, to read without a network.

docs_site.py [OUT]: pages are copied as they lie in the tree, so that their links lead where they
lead on the web. A broken link or anchor ends it (mkdocs --strict).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = ROOT / "docs" / "site"
TOP = ("README.md", "SPEC.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
PATHS = "paths: [device, host_tools]"  # in mkdocs.yml, from the root
PACKAGES = [str(ROOT / "device"), str(ROOT / "host_tools")]
NOTES = "host_tools/microzo_lab/notes"
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")


def pages():
    """Paths of the pages, and of what they show, from the root."""
    folders = (ROOT / "docs", ROOT / NOTES)
    found = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return [*TOP, *(p.relative_to(ROOT).as_posix() for p in found if SETTINGS not in p.parents)]


def linked(names):
    """Files beside the pages that they link to, such as scripts."""
    for name in names:
        if name.endswith(".md"):
            for link in LINK.findall((ROOT / name).read_text()):
                target = (ROOT / name).parent / link
                if "://" not in link and target.is_file():
                    path = target.resolve().relative_to(ROOT).as_posix()
                    if path not in names:
                        yield path


def navigation(index):
    """nav of mkdocs from docs/README.md: a bold word begins a section, its links are the pages."""
    nav = [{"microzo": "README.md"}, {"Documentation": "docs/README.md"}]
    for line in index.splitlines():
        section = re.match(r"\*\*(\w[^*]*)\*\*", line)
        if section:
            nav.append({section[1]: []})
        for words, link in re.findall(r"\[([^\]]+)\]\(([^)#]+\.md)\)", line):
            (entries,) = nav[-1].values()
            if isinstance(entries, list):
                words = words.replace("`", "")
                entries.append({words[:1].upper() + words[1:]: resolved(link)})
    more = [name for name in TOP if name not in ("README.md", "SPEC.md")]
    return [*nav, {"Project": [{title(name): name} for name in more]}]


def resolved(link):
    """A link of docs/README.md from the root."""
    return (ROOT / "docs" / link).resolve().relative_to(ROOT).as_posix()


def title(name):
    return name.removesuffix(".md").capitalize()


def stage(folder):
    """Copies the pages; lists that GitHub indents by 2 or 3 are indented by 4, as mkdocs wants."""
    names = pages()
    for name in dict.fromkeys([*names, *linked(names)]):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".md"):
            target.write_text(indented((ROOT / name).read_text()))
        else:
            shutil.copy(ROOT / name, target)
    (folder / "assets").mkdir()
    shutil.copy(SETTINGS / "iframe-worker.js", folder / "assets")


def indented(text):
    """Below an entry of a list, 2 or 3 spaces become 4."""
    lines, inside = [], 0
    for line in text.splitlines():
        entry = re.match(r"(\d+\.|-) ", line)
        if entry:
            inside = len(entry[0])
        elif line and not line.startswith(" "):
            inside = 0
        if inside and re.match(r" {%d}" % inside, line):
            line = " " * (4 - inside) + line
        lines.append(line)
    return "\n".join(lines) + "\n"


def build(out):
    """Builds the site into a folder; ends with what mkdocs says if it fails."""
    import yaml

    with tempfile.TemporaryDirectory() as temporary:
        source = pathlib.Path(temporary, "pages")
        stage(source)
        nav = navigation((ROOT / "docs" / "README.md").read_text())
        more = {"docs_dir": str(source), "site_dir": str(out), "nav": nav}
        settings = pathlib.Path(temporary, "mkdocs.yml")
        text = (SETTINGS / "mkdocs.yml").read_text().replace(PATHS, f"paths: {PACKAGES}")
        settings.write_text(text + yaml.safe_dump(more, sort_keys=False, allow_unicode=True))
        # Not --quiet: what it does not say, it does not count.
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", settings]
        env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, env=env)
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if line.startswith(("WARNING", "ERROR"))]
        raise SystemExit("\n".join([*told, "the site is not built: mend what is said above"]))


if __name__ == "__main__":
    build(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site").resolve())
