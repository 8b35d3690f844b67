"""Makes what follows from native_modules/microzo/words.toml: the words of a plan, declared once.

words.py --write writes the generated files; words.py --check names those that differ.
--page PAGE: where the spec's tables are (else the page under docs/, or SPEC.md, with the markers).
"""

import argparse
import itertools
import re
import sys
import textwrap
import tomllib
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = "native_modules/microzo/words.toml"
NOTICE = f"Generated from {TABLE} by boards/tools/words.py; do not edit."
BOARD = "device/microzo/net/words.py"
C = "native_modules/microzo/kernels/plan.h"
HOST = "host_tools/microzo_host/model/fields.py"
MARKERS = ("words", "scratch")
SETTERS = ("model", "writer", "blob", "layout", "place_state")
RUN_TIME = ("layout", "place_state")
WEIGHTED = ("CONV", "DWCONV", "DENSE")

Word = namedtuple("Word", "index name kinds set_by meaning")


class Table:
    """words.toml, checked; `header` and `operator` are lists of Word."""

    def __init__(self, text):
        self.__dict__.update(tomllib.loads(text))
        self.kind_names = [name for _, name, _ in self.kinds]
        numbers = {name: number for name, number, _, _ in self.limits}
        numbers |= {"magic": f"0x{self.magic:08X}", "major": self.major, "minor": self.minor}
        self.header = [
            Word(i, name, (), by, text.format(**numbers)) for i, name, by, text in self.header
        ]
        self.operator = [
            Word(i, name, self.kinds_of(kinds), by, text)
            for i, name, kinds, by, text in self.operator
        ]
        for words, size in ((self.header, self.header_words), (self.operator, self.op_words)):
            indices, names = [w.index for w in words], [w.name for w in words]
            if indices != sorted(indices) or not size >= indices[-1] + 1 == len(set(indices)):
                raise ValueError(
                    f"{TABLE}: the words are not numbered 0, 1, ... below {size}: mend that"
                )
            if len(set(names)) < len(names):
                raise ValueError(f"{TABLE}: two words have the same name: rename one")
            if unknown := {w.set_by for w in words}.difference(SETTERS):
                raise ValueError(f"{TABLE}: words are not set by {unknown}: choose of {SETTERS}")
        for word, other in itertools.combinations(self.operator, 2):
            if word.index == other.index and (both := set(word.kinds) & set(other.kinds)):
                raise ValueError(
                    f"{TABLE}: {word.name} and {other.name} are one word of {both}: move one"
                )
        if [i for i, _, _ in self.kinds] != list(range(1, len(self.kinds) + 1)):
            raise ValueError(f"{TABLE}: the kinds are not numbered 1, 2, ...: mend that")

    def kinds_of(self, text):
        """Names of kinds: of "all", or "weighted ADD"."""
        if text == "all":
            return tuple(self.kind_names)
        kinds = [k for part in text.split() for k in (WEIGHTED if part == "weighted" else (part,))]
        if unknown := set(kinds).difference(self.kind_names):
            raise ValueError(f"{TABLE}: no kind is called {unknown}: declare it or mend the name")
        return tuple(kinds)

    def number(self, kind):
        return 1 + self.kind_names.index(kind)

    def board_name(self, word):
        """Name of a header's word where those of the operators stand beside it."""
        clash = word.name in {w.name for w in self.operator}
        return f"NET_{word.name}" if clash else word.name

    def field(self, side, word):
        return self.fields[side].get(word.name, word.name.lower())

    def firsts(self):
        """The operators' words without the further names of shared ones."""
        return list({w.index: w for w in reversed(self.operator)}.values())[::-1]

    def shared(self):
        """Words whose place has several names."""
        return [w for w in self.operator if sum(w.index == v.index for v in self.operator) > 1]

    def seconds(self):
        """The further names of shared words: (Word, the first of its place)."""
        firsts = {w.index: w for w in self.firsts()}
        return [(w, firsts[w.index]) for w in self.operator if w is not firsts[w.index]]

    def spare(self):
        """{indices of words: of what they are spare}"""
        words = {tuple(range(len(self.header), self.header_words)): ["header"]}
        for kind in self.kind_names:
            used = {w.index for w in self.operator if kind in w.kinds}
            used |= {w.index for w in self.firsts() if w.set_by in RUN_TIME}
            indices = tuple(i for i in range(self.op_words) if i not in used)
            words.setdefault(indices, []).append(kind)
        return words


# device/microzo/net/words.py

BOARD_HEAD = '''"""Names of the words of a plan (SPEC.md, section 3).

A plan is a sequence of int32: HEADER_WORDS of header, then OP_WORDS for each operator.
`plan[N_OPS]` reads a header word, `plan[op_base(i) + KIND]` a word of operator i.
"""

try:
    from micropython import const
except ImportError:

    def const(value):
        return value

'''
BOARD_TAIL = '''

def op_base(index):
    """Index of the first word of operator `index`."""
    return HEADER_WORDS + OP_WORDS * index
'''


def board(table):
    def const(name, value, comment=""):
        lines.append(f"{name} = const({value})" + (f"  # {comment}" if comment else ""))

    def section(title, rows):
        lines.extend(("", f"# {title}"))
        for value, name, *_ in rows:
            const(name, value)

    lines = [f"# {NOTICE}", *BOARD_HEAD.splitlines(), ""]
    const("MAGIC_VALUE", f"0x{table.magic:08X}")
    const("VERSION_MAJOR", table.major)
    const("VERSION_MINOR", table.minor)
    const("HEADER_WORDS", table.header_words)
    const("OP_WORDS", table.op_words)
    for title, words, named in (
        ("header", table.header, table.board_name),
        ("operator", table.operator, lambda w: w.name),
    ):
        lines.extend(("", f"# {title}"))
        for word in words:
            const(named(word), word.index, "run time" if word.set_by in RUN_TIME else "")
    section("values of KIND", table.kinds)
    names = ", ".join(f'"{name}"' for name in ("?", *table.kind_names))
    lines += ["KIND_NAMES = (", *wrapped(f"{names},", "    ", 99), ")  # fmt: skip"]
    section("bits of FLAGS", table.flags)
    section("bits of NET_FLAGS", table.net_flags)
    section("bits of `what`: of a selection (arena.place_state), probe and update", table.what)
    lines.append("")
    for name, number, on_board, meaning in table.limits:
        if on_board:
            const(name, number, meaning)
    return "\n".join(lines) + "\n" + BOARD_TAIL


def wrapped(text, indent, width):
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent)


# native_modules/microzo/kernels/plan.h


def c(table):
    def enum(rows):
        return ["enum {", *(f"    MZ_{name} = {value}," for name, value in rows), "};", ""]

    fields = ", ".join(table.field("layer", word) for word in table.firsts())
    selection = [(f"WHAT_{name}", bit) for bit, name in table.what]
    lines = [
        f"// {NOTICE}",
        "// The words of a plan (SPEC.md section 3) by name.",
        "#ifndef MZ_PLAN_H",
        "#define MZ_PLAN_H",
        "",
        f"#define MZ_MAGIC 0x{table.magic:08X}",
        f"#define MZ_MAJOR {table.major}",
        f"#define MZ_MINOR {table.minor}",
        "",
        *enum([("HEADER_WORDS", table.header_words), ("OP_WORDS", table.op_words)]),
        *enum((f"H_{word.name}", word.index) for word in table.header),
        *enum((f"O_{word.name}", word.index) for word in table.operator),
        "// The words of an operator in their order: the first fields of mz_layer_t.",
        "#define MZ_LAYER_WORDS \\",
        *(f"{line} \\" for line in wrapped(f"int32_t {fields};", "    ", 96)[:-1]),
        wrapped(f"int32_t {fields};", "    ", 96)[-1],
        "",
        "// Words that other kinds of operators have in the place of one of those.",
        *(f"#define MZ_{w.name}(l) ((l)->{table.field('layer', f)})" for w, f in table.seconds()),
        "",
        *enum((name, value) for value, name, _ in table.kinds),
        *enum((f"FLAG_{name}", bit) for bit, name, *_ in table.flags),
        "// What of an operator is trained, perturbed or updated.",
        *enum([*selection, ("WHAT_ALL", sum(bit for _, bit in selection))]),
        "enum {",
        *(f"    MZ_{name} = {number}, // {text}" for name, number, _, text in table.limits),
        "};",
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


# host_tools/microzo_host/model/fields.py


def host(table):
    def mapping(name, comment, rows):
        body = [f"    {key!r}: {value!r},".replace("'", '"') for key, value in rows]
        return [f"# {comment}", f"{name} = {{", *body, "}"]

    def words(side, words, *setters):
        return [(table.field(side, w), w.index) for w in words if w.set_by in setters]

    header = [(table.board_name(w).replace("NET_", "").lower(), w) for w in table.header]
    unshared = [w for w in table.operator if w not in table.shared()]
    lines = [
        f"# {NOTICE}",
        '"""Fields that are words of a plan (SPEC.md, section 3): {field: index of the word}."""',
        "",
        *mapping(
            "HEADER",
            "Of a Model.",
            [(name, w.index) for name, w in header if w.set_by == "model"],
        ),
        "# Words of the header that are 0 in a file.",
        f"RUN_TIME = {tuple(w.index for w in table.header if w.set_by in RUN_TIME)}",
        *mapping("VALUES", "Of an Op: integers.", words("op", unshared, "model")),
        *mapping(
            "SHARED",
            "The same of some kinds: {field: (index, kinds)}.",
            [
                (table.field("op", w), (w.index, tuple(table.number(k) for k in w.kinds)))
                for w in table.shared()
                if w.set_by == "model"
            ],
        ),
        *mapping(
            "ARRAYS",
            "Of an Op: arrays; the word is the offset in the blob, -1: none.",
            words("op", table.operator, "blob"),
        ),
        "# Words of an operator that are -1 in a file.",
        f"STATE = {tuple(w.index for w in table.operator if w.set_by == 'place_state')}",
        *mapping(
            "OPERATOR",
            "Of an operator in the oracle: every word.",
            words("oracle", table.operator, *SETTERS),
        ),
        *mapping(
            "KIND_NAMES",
            "Values of KIND as a file's graph names them.",
            [(value, title) for value, _, title in table.kinds],
        ),
        *(f"{name} = {number}  # {text}" for name, number, _, text in table.limits),
    ]
    return "\n".join(lines) + "\n"


# the spec's page


def rows(*titles, lines):
    yield "| " + " | ".join(titles) + " |"
    yield "|" + "---|" * len(titles)
    for cells in lines:
        yield "| " + " | ".join(str(cell) for cell in cells) + " |"


def named_kinds(table, kinds):
    if len(kinds) == len(table.kinds):
        return "all"
    rest = [kind for kind in kinds if kind not in WEIGHTED]
    return " ".join(["weighted", *rest] if len(kinds) - len(rest) == len(WEIGHTED) else kinds)


def ranges(indices):
    """Indices as text: 7, 9..12"""
    runs = []
    for i in indices:
        if runs and i == runs[-1][1] + 1:
            runs[-1][1] = i
        else:
            runs.append([i, i])
    return ", ".join(f"{a}..{b}" if b > a else str(a) for a, b in runs)


def spec_words(table):
    yield f"`plan` is {table.header_words} header words and {table.op_words} words an operator."
    yield "Words set by *model*, *writer* and *blob* stand in a file; *blob*: an array's offset."
    yield "Words set by *layout* and *place_state* (`device/microzo/net/arena.py`) are run time:"
    yield "0 in a file, but -1 where *place_state* sets a word of an operator."
    yield "The weighted kinds are CONV, DWCONV and DENSE."
    yield ""
    lines = [(f"{w.index} {w.name}", w.meaning, w.set_by) for w in table.header]
    yield from rows("word", "header", "set by", lines=lines)
    yield ""
    lines = [
        (f"{w.index} {w.name}", w.meaning, named_kinds(table, w.kinds), w.set_by)
        for w in table.operator
    ]
    yield from rows("word", "operator", "kinds", "set by", lines=lines)
    yield ""
    kinds = ", ".join(f"{value} {name}" for value, name, _ in table.kinds)
    yield f"KIND: {kinds}."
    yield ""
    lines = [
        (f"{bit} {name}", named_kinds(table, table.kinds_of(kinds)), text)
        for bit, name, kinds, text in table.flags
    ]
    yield from rows("FLAGS, bit", "kinds", "meaning", lines=lines)
    yield ""
    yield "These words are spare: a later minor version may use them, a reader ignores them."
    offsets = ranges(w.index for w in table.operator if w.set_by == "blob")
    yield f"In a file the offsets of arrays among them ({offsets}) are -1, the others 0."
    yield ""
    lines = [(named_kinds(table, of), ranges(indices)) for indices, of in table.spare().items()]
    yield from rows("of", "spare words", lines=lines)


def spec_scratch(table):
    yield "Bytes of scratch of an operator. K is the number of weights of one output channel:"
    yield "K_H * K_W * IN_C of CONV, K_H * K_W of DWCONV, IN_C of DENSE. `K4 = (K + 3) & ~3`."
    yield ""
    yield from rows("kind", "bytes", lines=[(k, f"`{x}`") for k, x in table.scratch.items()])
    yield ""
    yield "Other kinds need none. SCRATCH_LEN is the largest of a plan."


def block(marker, lines):
    return "\n".join(
        [f"<!-- {marker}: begin -->", f"<!-- {NOTICE} -->", *lines, f"<!-- {marker}: end -->"]
    )


def find_page(marker):
    pages = [ROOT / "SPEC.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages = [page for page in pages if f"<!-- {marker}: begin -->" in page.read_text()]
    if len(pages) != 1:
        raise ValueError(f"{len(pages)} pages have the marker `{marker}: begin`, it needs one")
    return pages[0]


# all of them


def generate(table, page=None):
    """{path: text as it should be}"""
    texts = {ROOT / BOARD: board(table), ROOT / C: c(table), ROOT / HOST: host(table)}
    for marker, lines in zip(MARKERS, (spec_words(table), spec_scratch(table)), strict=True):
        path = page or find_page(marker)
        old = texts.get(path) or path.read_text()
        pattern = rf"<!-- {marker}: begin -->\n.*?<!-- {marker}: end -->"
        new = block(marker, lines)
        texts[path], count = re.subn(pattern, lambda _, new=new: new, old, flags=re.S)
        if count != 1:
            raise ValueError(f"{path} has the markers of `{marker}` {count} times, it needs one")
    return texts


def load():
    return Table((ROOT / TABLE).read_text())


def stale(page=None):
    """{path: text} of what is not as the table says."""
    texts = generate(load(), page)
    return {p: text for p, text in texts.items() if not p.exists() or p.read_text() != text}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    changes = stale(args.page and args.page.resolve())
    for path, text in changes.items():
        print(("wrote " if args.write else "differs: ") + str(path.relative_to(ROOT)))
        if args.write:
            path.write_text(text)
    sys.exit(bool(changes) and args.check)


if __name__ == "__main__":
    main()
