"""The package that is compiled for boards: constants of other modules are numbers there."""

import ast

import pytest

from microzo.journal import record
from microzo.net import words as L
from microzo_host.board import fold, push

PACKAGE = push.package_folder()
NUMBERS = fold.constants(PACKAGE)
MODULES = sorted(
    path.relative_to(PACKAGE).with_suffix("").as_posix() for path in PACKAGE.rglob("*.py")
)


def folded(name):
    text = (PACKAGE / f"{name}.py").read_text()
    return text, fold.folded(text, name.replace("/", "."), NUMBERS)


def test_numbers_are_those_of_the_modules():
    for module, names in ((L, NUMBERS["net.words"]), (record, NUMBERS["journal.record"])):
        assert names == {name: value for name, value in vars(module).items() if name.isupper()}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_keeps_its_lines_and_reads_no_constant_of_others(name):
    text, short = folded(name)
    assert short.count("\n") == text.count("\n")
    for node in ast.walk(ast.parse(short)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert not (node.value.id == "L" and hasattr(L, node.attr) and node.attr.isupper())


def test_expressions_give_what_the_source_gives():
    text = (
        "from ..journal import record\nfrom ..net import words as L\n"
        "def f(i):\n    return [L.op_base(i + 1) + L.KIND, record.HEADER - record.CRC]\n"
    )
    short = fold.folded(text, "methods.x", NUMBERS)
    assert "import" not in short
    names = {}
    exec(short, names)
    assert names["f"](3) == [L.op_base(4) + L.KIND, record.HEADER - record.CRC]


def test_a_name_that_is_no_constant_keeps_its_import():
    text = "from . import words as L\nx = L.KIND_NAMES[L.CONV]\ny = L.op_base\n"
    short = fold.folded(text, "net.x", NUMBERS)
    assert short.startswith("from . import words as L\n") and "'CONV'" in short and "[1]" in short
