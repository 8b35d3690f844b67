"""The words of a plan are declared once, in words.toml; what is made from it is up to date."""

import dataclasses
import importlib.util
import re
import zlib
from pathlib import Path

import pytest

from microzo.net import words as L
from microzo_host.model import fields
from microzo_host.model import file as modelfile

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("tool_words", ROOT / "boards/tools/words.py")
tool = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tool)
TEXT = (ROOT / tool.TABLE).read_text()
TABLE = tool.load()


def test_what_is_generated_is_up_to_date():
    stale = [str(path.relative_to(ROOT)) for path in tool.stale()]
    assert stale == [], "run boards/tools/words.py --write"


@pytest.mark.parametrize(
    "old, new, changed",
    [
        ('"CLASSES"', '"LABELS"', (tool.BOARD, tool.C, tool.HOST, "page")),
        ('[ 7, "PAD"', '[ 7, "BORDER"', (tool.BOARD, tool.C, "page")),
        ('"KEPT",        128', '"KEPT",        64', (tool.BOARD, tool.C, tool.HOST)),
        ('"SPREAD_C"', '"SPREAD_ALL"', (tool.BOARD, tool.C, "page")),
        ('"MULTIPLIERS"', '"SCALES"', (tool.BOARD, tool.C)),
        ("12 * K4", "16 * K4", ("page",)),
        ("minor = 0", "minor = 1", (tool.BOARD, tool.C, "page")),
        ('MULT = "add_mult"', 'MULT = "out_mult"', (tool.C,)),
    ],
)
def test_a_change_of_the_table_reaches_every_home(old, new, changed):
    assert TEXT.count(old) == 1
    pages = {tool.find_page(marker) for marker in tool.MARKERS}
    texts = tool.generate(tool.Table(TEXT.replace(old, new)))
    differ = {path for path, text in texts.items() if path.read_text() != text}
    assert {"page" if p in pages else str(p.relative_to(ROOT)) for p in differ} == set(changed)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('[11, "IN_ZP"', '[12, "IN_ZP"', "not numbered"),
        ('"OUT_ZP"', '"IN_ZP"', "the same name"),
        ('"ADD MUL MEAN"', '"ADD MUL AVERAGE"', "no kind is called"),
        ('"place_state", "bytes of the state"', '"board", "bytes of the state"', "not set by"),
        ("op_words = 48", "op_words = 40", "not numbered"),
        ('"CONV",              "layout"', '"CONV ADD",          "layout"', "are one word of"),
        ('[ 2, "DWCONV"', '[ 3, "DWCONV"', "kinds are not numbered"),
    ],
)
def test_a_table_with_a_mistake_is_refused(old, new, message):
    assert old in TEXT
    with pytest.raises(ValueError, match=message):
        tool.Table(TEXT.replace(old, new))


def test_a_page_without_its_markers_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- words: begin -->\n<!-- words: end -->\n")
    with pytest.raises(ValueError, match="`scratch` 0 times"):
        tool.generate(TABLE, page)
    page.write_text(page.read_text() + "<!-- scratch: begin -->\nold\n<!-- scratch: end -->\n")
    assert "| 31 S_OFF |" in tool.generate(TABLE, page)[page]


# The words of each version of the format, as a checksum: files are out there.
FORMATS = {(1, 0): 0x47BC05F7}


def test_words_of_a_version_do_not_change():
    words = [(w.index, w.name) for w in (*TABLE.header, *TABLE.operator)]
    words += [(value, name) for value, name, *_ in (*TABLE.kinds, *TABLE.flags, *TABLE.net_flags)]
    words += [TABLE.header_words, TABLE.op_words, TABLE.magic]
    assert FORMATS.get((TABLE.major, TABLE.minor)) == zlib.crc32(repr(words).encode()), (
        "the words differ: raise major or minor in words.toml and add the new version here"
    )


def test_every_name_on_a_board_has_one_value():
    text = (ROOT / tool.BOARD).read_text()
    names = re.findall(r"^(\w+) = const\((\w+)\)", text, re.M)
    assert len(dict(names)) == len(names)
    assert {name: getattr(L, name) for name, _ in names} == {n: int(v, 0) for n, v in names}
    assert [getattr(L, name) for name in L.KIND_NAMES[1:]] == list(range(1, len(L.KIND_NAMES)))


def test_the_hosts_classes_have_the_fields():
    model = {field.name for field in dataclasses.fields(modelfile.Model)}
    assert fields.HEADER.keys() <= model
    op = {field.name for field in dataclasses.fields(modelfile.Op)}
    op -= {"name", "colors"}  # the roots stand behind the statistics, without a word of their own
    assert op == fields.VALUES.keys() | fields.SHARED.keys() | fields.ARRAYS.keys()
    assert sorted(set(fields.OPERATOR.values())) == list(range(L.OP_WORDS))


def test_no_kind_has_two_names_for_a_word():
    """DIL_H of a convolution and MULT1 of a sum are one word; a field is of its own kinds only."""
    for kind in TABLE.kind_names:
        own = [w.index for w in TABLE.operator if kind in w.kinds]
        assert len(set(own)) == len(own)
    assert fields.SHARED["dil_h"] == (L.DIL_H, (L.CONV, L.DWCONV, L.DENSE))
    assert fields.SHARED["mult1"] == (L.MULT1, (L.ADD,)) and L.MULT1 == L.DIL_H
    assert "#define MZ_DIL_H(l) ((l)->mult1)\n" in tool.c(TABLE)
