"""Markdown of our own pages as HTML: headings, paragraphs, lists, tables, code, links, emphasis.

parts(text) tells the cells, which are blocks of ```python, from the text between them.
"""

import html
import re

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[^\n]*$", re.M | re.S)
_ITEM = re.compile(r"^( *)([-*]|\d+\.) +(.*)$")


def title(text):
    """The first heading."""
    return re.search(r"^# +(.*)$", text, re.M)[1].replace("`", "")


def parts(text, code="python"):
    """[{"html": ...} or {"code": ...}] of a page; blocks of other languages are shown."""
    result, at = [], 0
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    for fence in _FENCE.finditer(text):
        if fence[1] == code:
            result += [{"html": blocks(text[at : fence.start()])}, {"code": fence[2].rstrip()}]
            at = fence.end()
    result.append({"html": blocks(text[at:])})
    return [part for part in result if part.get("html") != ""]


def blocks(text):
    """The HTML of a text."""
    out, at = [], 0
    for fence in _FENCE.finditer(text):
        out += [_block(b) for b in re.split(r"\n\s*\n", text[at : fence.start()])]
        out.append(f"<pre>{html.escape(fence[2].rstrip())}</pre>")
        at = fence.end()
    out += [_block(b) for b in re.split(r"\n\s*\n", text[at:])]
    return "\n".join(b for b in out if b)


def _block(text):
    lines = text.strip("\n").split("\n")
    if not text.strip():
        return ""
    heading = re.match(r"(#+) +(.*)$", lines[0])
    if heading:
        level = min(6, len(heading[1]))
        return f"<h{level}>{inline(heading[2])}</h{level}>" + _block("\n".join(lines[1:]))
    if lines[0].startswith("|") and len(lines) > 1 and set(lines[1]) <= set("|-: "):
        rows = [_row(lines[0], "th"), *(_row(line, "td") for line in lines[2:])]
        return f"<table>{''.join(rows)}</table>"
    if _ITEM.match(lines[0]):
        return _list(lines)
    return f"<p>{inline(' '.join(lines))}</p>"


def _row(line, cell):
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return "<tr>" + "".join(f"<{cell}>{inline(c.strip())}</{cell}>" for c in cells) + "</tr>"


def _list(lines):
    items = []
    for line in lines:
        item = _ITEM.match(line)
        if item:
            items.append(item[3])
        else:
            items[-1] += " " + line.strip()
    kind = "ol" if _ITEM.match(lines[0])[2][0].isdigit() else "ul"
    return f"<{kind}>{''.join(f'<li>{inline(item)}</li>' for item in items)}</{kind}>"


def inline(text):
    """Code, emphasis, and links to the web or to files."""
    pieces = re.split(r"(`[^`]+`)", text)
    return "".join(
        f"<code>{html.escape(p[1:-1])}</code>" if p[:1] == "`" and len(p) > 1 else _marks(p)
        for p in pieces
    )


def _marks(text):
    text = html.escape(text, quote=False)
    text = re.sub(r"\[([^\]]+)\]\(((?:https?://)?[\w./#?=&%-]+)\)", r'<a href="\2">\1</a>', text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)", r"<em>\1</em>", text)
