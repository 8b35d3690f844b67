"""SPEC.md against the code: its worked examples, its tables of words, its table of functions."""

import ast
import inspect
import os
import re
from pathlib import Path

import pytest
import spec_calls

from microzo.kernel import python as pykernels
from microzo.net import words as L
from microzo_host import reference as oracle

ROOT = Path(__file__).resolve().parents[2]
SPEC = (ROOT / "SPEC.md").read_text()
HEADER_CLASHES = {
    "IN_H": "NET_IN_H",
    "IN_W": "NET_IN_W",
    "IN_C": "NET_IN_C",
    "IN_ZP": "NET_IN_ZP",
    "FLAGS": "NET_FLAGS",
}


def example_lines():
    for block in re.findall(r"^```example\n(.*?)^```", SPEC, re.M | re.S):
        yield from (line for line in block.splitlines() if line.strip())


def kernel_modules():
    try:
        from microzo_host import native
    except ImportError as e:
        native = str(e)
    return {"oracle": oracle, "pykernels": pykernels, "native": native}


MODULES = kernel_modules()


def module(name):
    if isinstance(MODULES[name], str):
        strict = os.environ.get("CI") == "true" or os.environ.get("MICROZO_STRICT", "") not in (
            "",
            "0",
        )
        (pytest.fail if strict else pytest.skip)(MODULES[name])
    return MODULES[name]


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("line", list(example_lines()))
def test_examples(line, name):
    call, _, result = line.partition(" -> ")
    node = ast.parse(call, mode="eval").body
    args = [ast.literal_eval(arg) for arg in node.args]
    assert spec_calls.CALLS[node.func.id](module(name), *args) == ast.literal_eval(result)


def test_every_kind_of_example_is_there():
    assert {line.partition("(")[0] for line in example_lines()} == set(spec_calls.CALLS)


def tables():
    """{first cell of the title row: rows}, a row = list of cells."""
    found = {}
    for block in re.findall(r"(?:^\|.*\n)+", SPEC, re.M):
        rows = [re.split(r" *\| *", line)[1:-1] for line in block.splitlines()]
        found[rows[0][1] if rows[0][0] == "word" else rows[0][0]] = rows[2:]
    return found


def words(title):
    """{name: index} of a table of words."""
    return {
        name: int(i)
        for row in tables()[title]
        for i, name in re.findall(r"(\d+) ([A-Z][A-Z0-9_]*)", row[0])
    }


def c_names(prefix):
    text = (ROOT / "native_modules/microzo/kernels/plan.h").read_text()
    return {
        name: int(value, 0)
        for name, value in re.findall(rf"\bMZ_{prefix}([A-Z0-9_]+)\s*=\s*(\w+)", text)
    }


def test_header_words():
    spec = words("header")
    assert len(spec) == 26
    assert {name: getattr(L, HEADER_CLASHES.get(name, name)) for name in spec} == spec
    assert c_names("H_") == spec


def test_operator_words():
    spec = words("operator")
    assert sorted(set(spec.values())) == list(range(48))  # DIL_H, DIL_W share words with ADD
    assert {name: getattr(L, name) for name in spec} == spec
    assert c_names("O_") == spec


def test_kinds_and_sizes():
    kinds = dict(re.findall(r"(\d+) ([A-Z]+)", tables()["operator"][0][1]))
    assert [kinds[str(i)] for i in range(1, 12)] == list(L.KIND_NAMES[1:])
    assert [getattr(L, name) for name in L.KIND_NAMES[1:]] == list(range(1, 12))
    c = c_names("")
    assert {name: c[name] for name in L.KIND_NAMES[1:]} == {
        name: getattr(L, name) for name in L.KIND_NAMES[1:]
    }
    flags = re.findall(r"(\d+) ([A-Z_]+)", tables()["operator"][1][1])
    assert {name: c["FLAG_" + name] for _, name in flags} == {name: int(i) for i, name in flags}
    assert {name: getattr(L, name) for _, name in flags} == {name: int(i) for i, name in flags}
    assert (c["HEADER_WORDS"], c["OP_WORDS"]) == (L.HEADER_WORDS, L.OP_WORDS)
    assert int(tables()["header"][0][1], 0) == L.MAGIC_VALUE
    text = (ROOT / "native_modules/microzo/kernels/plan.h").read_text()
    defines = {name: int(value, 0) for name, value in re.findall(r"#define MZ_(\w+) (\w+)", text)}
    assert (defines["MAGIC"], defines["MAJOR"], defines["MINOR"]) == (
        L.MAGIC_VALUE,
        L.VERSION_MAJOR,
        L.VERSION_MINOR,
    )


def api():
    """{function: (argument names, signature letters)} of the table in section 4."""
    functions = {}
    for call, signature, *_ in tables()["function"]:
        name, args = re.fullmatch(r"`(\w+)\((.*)\)`", call).groups()
        args = args.replace("net", "plan, blob, state, arena")
        functions[name] = tuple(filter(None, args.split(", "))), signature
    return functions


def test_the_api_is_the_same_everywhere():
    functions = api()
    assert len(functions) == 24
    for name, (args, signature) in functions.items():
        assert len(args) == len(signature), name
        for mod in (oracle, pykernels):
            assert tuple(inspect.signature(getattr(mod, name)).parameters) == args, (
                mod.__name__,
                name,
            )
    public = {
        n for n, f in vars(pykernels).items() if inspect.isfunction(f) and not n.startswith("_")
    }
    assert public == set(functions)
    assert {n for n, f in vars(oracle).items() if inspect.isfunction(f)} == set(functions)


def test_the_native_table():
    assert module("native").SIGNATURES == {
        name: signature for name, (_, signature) in api().items()
    }


def test_version():
    for name in MODULES:
        assert module(name).version() == 100 * L.VERSION_MAJOR + L.VERSION_MINOR
