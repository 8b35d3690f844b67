"""Which modules of the device package are in a board's RAM while a recipe runs."""

import ast
import functools

from microzo import stages

from . import push

# What a script such as train.py asks for, what chooses the program of a run, and what a board
# forgets before the run begins.
ROOTS = ("__init__", "cache", "dataset", "loader", "recipes", "trainer")
PLANNING = ("opening", "program", "selection")
FORGOTTEN = ("loader", "recipes", *PLANNING)


def modules(specs):
    """Sorted names of the modules in RAM for these stages of a recipe."""
    wanted = [*ROOTS, *PLANNING]
    for spec in specs:
        wanted += stages.code(spec)
    found = set()
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += _imports(name)
    return sorted(found - set(FORGOTTEN))


@functools.cache
def _imports(name):
    """Modules of the package that a module imports when it is loaded itself."""
    folder = push.package_folder()
    found = set()
    for node in ast.parse((folder / f"{name}.py").read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {other for other in names if (folder / f"{other}.py").is_file()}
    return found
