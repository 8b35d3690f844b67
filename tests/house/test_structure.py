"""The shape of the house: a tower without circles, small files, no attribute written from outside.

Reads the source alone (tests/support/source_tree.py). The last tests show that the reader sees
what it is there to find.
"""

import pathlib

import pytest
import source_tree

ROOT = pathlib.Path(__file__).parents[2]
LINES = 400
TREES = {
    "device": source_tree.Tree(ROOT / "device", ["microzo"]),
    "host_tools": source_tree.Tree(ROOT / "host_tools", ["microzo_host", "microzo_lab"]),
}
# Of the board's package; each floor imports lower ones only.
FLOORS = "board net kernel data journal zo methods recipes train search".split()
# (importer, imported): imports that go up the tower, inside a function.
LATE_UPWARDS = {
    ("train.start", "search.layers"),  # the search drives an engine, and a recipe asks for it
    ("train.trainer", "search.step"),
}
# The same at the top of a module: a model is loaded with the kernels that there are.
UPWARDS = {("net.load", "kernel.choice")}
# Modules that import by a computed name.
LATE_BY_NAME = {"microzo", "microzo.methods", "microzo.train.start"}
# Attributes of objects that are not ours: NumPy, ctypes, functions, littlefs, click, PyTorch.
NOT_OURS = {
    "writeable", "restype", "argtypes", "__name__", "__qualname__", "__module__", "__doc__",
    "__getattr__", "buffer", "exit_code", "momentum",
}  # fmt: skip

both = pytest.mark.parametrize("tree", TREES)


@both
def test_no_circle_of_imports(tree):
    at_once = [i for i in TREES[tree].imports() if not i.late]
    assert source_tree.circles(at_once) == []


@both
def test_files_are_small(tree):
    sizes = {n: len(p.read_text().splitlines()) for n, p in TREES[tree].files.items()}
    assert {name: size for name, size in sizes.items() if size > LINES} == {}


@both
def test_no_attribute_is_written_from_outside_its_class(tree):
    """But the fields of plain records, which have no behaviour to protect."""
    allowed = TREES[tree].record_fields() | NOT_OURS
    writes = [
        f"{module}:{line} {text}"
        for module, line, text, attribute in TREES[tree].foreign_writes()
        if attribute not in allowed or attribute.startswith("_") and attribute not in NOT_OURS
    ]
    assert writes == []


def test_each_floor_imports_lower_ones_only():
    """`microzo` itself, which holds what lets go of code, imports none of them at once."""
    upwards = set()
    for each in TREES["device"].imports():
        source, target = (n.partition(".")[2] for n in (each.source, each.target))
        if not source:
            assert each.late, each
        elif target and _floor(target) > _floor(source):
            upwards.add((source, target, each.late))
    allowed = {(*pair, True) for pair in LATE_UPWARDS} | {(*pair, False) for pair in UPWARDS}
    assert upwards == allowed


def test_imports_by_a_computed_name_are_few():
    assert TREES["device"].calls("__import__") <= LATE_BY_NAME


def test_every_package_says_what_it_is():
    inits = [p for t in TREES.values() for p in t.files.values() if p.name == "__init__.py"]
    host = [p for p in inits if "host_tools" in p.parts]
    assert [str(p) for p in host if not p.read_text().startswith('"""')] == []


def test_the_product_does_not_need_the_laboratory():
    """But `microzo simulate` and the demo's yardstick, which ask for it when they need it."""
    needs = {
        i.source
        for i in TREES["host_tools"].imports()
        if i.source.startswith("microzo_host") and i.target.startswith("microzo_lab")
        if not i.late
    }
    assert needs == set()


def _floor(name):
    return FLOORS.index(name.partition(".")[0])


@pytest.fixture
def tree(tmp_path):
    """tree(**source of modules): a Tree of a package `p`."""

    def make(**modules):
        folder = tmp_path / "p"
        folder.mkdir()
        for name, text in {"__init__": "", **modules}.items():
            (folder / f"{name}.py").write_text(text)
        return source_tree.Tree(tmp_path, ["p"])

    return make


def test_a_circle_is_seen(tree):
    made = tree(a="from . import b", b="import p.c", c="from .a import x", d="from . import a")
    assert source_tree.circles(made.imports()) == [["p.a", "p.b", "p.c"]]


def test_late_imports_are_told_apart(tree):
    made = tree(
        a="def f():\n    from . import b", b="try:\n    from . import a\nfinally:\n    pass"
    )
    assert {(i.source, i.late) for i in made.imports()} == {("p.a", True), ("p.b", False)}


def test_a_write_from_outside_is_seen(tree):
    made = tree(
        a="class A:\n    def __init__(self):\n        self.x = 1\n"
        "    def copy(self):\n        other = A()\n        other.x = self.x\n",
        b="def f(a):\n    a.x = 1\n    a.y += 2\n    a.z[0] = 3",
    )
    assert [(m, text) for m, _, text, _ in made.foreign_writes()] == [
        ("p.b", "a.x"),
        ("p.b", "a.y"),
    ]
    assert made.record_fields() == set()


def test_records_are_told_apart(tree):
    made = tree(
        a="class Position:\n    def __init__(self):\n        self.step = 0\n",
        b="import dataclasses\n@dataclasses.dataclass\nclass Row:\n    best: int\n",
        c="@dataclass(frozen=True)\nclass Fixed:\n    value: int\n",
    )
    assert made.record_fields() == {"step", "best"}
