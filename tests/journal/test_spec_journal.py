"""The journal's page of the specification against the code: worked examples, types of records."""

import pathlib
import re

import pytest

import microzo
from microzo.journal import record

SPEC_FOLDER = pathlib.Path(__file__).parents[2] / "docs" / "reference" / "spec"
PAGE = (SPEC_FOLDER / "journal.md").read_text()
EXAMPLES = re.findall(r"```journal\n(.*?)\nbytes (.*?)\n```", PAGE)


def test_there_are_examples():
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize(("fields", "expected"), EXAMPLES)
def test_record_has_these_bytes(fields, expected):
    words, payload = fields.split("payload ")
    value = dict(zip(words.split()[::2], map(int, words.split()[1::2]), strict=True))
    payload = bytes.fromhex(payload)
    rec = record.new(value["type"], len(payload), value["board"], value["aux"], value["flags"])
    record.put32(rec, 4, value["step"])
    record.payload(rec)[:] = payload
    microzo.kernels().seal(rec, len(rec) - record.CRC)
    assert rec.hex(" ") == expected


def test_types_are_those_of_the_table():
    types = dict(re.findall(r"^\| (\d+) ([A-Z]+) \|", PAGE, re.M))
    assert {int(number): name for number, name in types.items()} == dict(
        enumerate(record.NAMES[1:], 1)
    )
