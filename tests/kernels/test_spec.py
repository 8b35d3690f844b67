"""The specification against the code: its worked examples, its table of functions."""

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
PAGES = sorted((ROOT / "docs" / "reference" / "spec").glob("*.md"))
SPEC = "\n".join(page.read_text() for page in PAGES)


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


def test_no_example_is_lost():
    assert len(list(example_lines())) == 48


def test_every_kind_of_example_is_there():
    assert {line.partition("(")[0] for line in example_lines()} == set(spec_calls.CALLS)


def tables():
    """{first cell of the title row: rows}, a row = list of cells."""
    found = {}
    for block in re.findall(r"(?:^\|.*\n)+", SPEC, re.M):
        rows = [re.split(r" *\| *", line)[1:-1] for line in block.splitlines()]
        found[rows[0][0]] = rows[2:]
    return found


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
    assert len(functions) == 28
    for name, (args, signature) in functions.items():
        assert len(args) == len(signature), name
        for mod in (oracle, pykernels):
            assert tuple(inspect.signature(getattr(mod, name)).parameters) == args, (
                mod.__name__,
                name,
            )
    public = {n for n, f in vars(pykernels).items() if inspect.isfunction(f) and n[0] != "_"}
    public -= {"hold"}  # room for what these alone allocate
    assert public == set(functions) and public > set(pykernels.LATE)
    assert {n for n, f in vars(oracle).items() if inspect.isfunction(f)} == set(functions)


def test_the_native_table():
    assert module("native").SIGNATURES == {
        name: signature for name, (_, signature) in api().items()
    }


def test_version():
    for name in MODULES:
        assert module(name).version() == 100 * L.VERSION_MAJOR + L.VERSION_MINOR
