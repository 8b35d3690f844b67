"""Which modules of the device package are in a board's RAM while a recipe runs."""

import ast
import functools

from microzo.methods import stages

from ..board import push

# What a script such as train.py asks for, what chooses the program of a run, and what a board
# forgets before the run begins.
ROOTS = ("__init__", "data.cache", "data.sources", "net.load", "recipes.names", "train.trainer")
PLANNING = ("train.start", "recipes.resolve", "net.trainable")
FORGOTTEN = ("net.load", "recipes.names", *PLANNING)


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
    here = name.split(".")[:-1]
    found = set()
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1] + (node.module or "").split(".")
            base = [part for part in base if part]
            names = [base] + [[*base, alias.name] for alias in node.names]
            found |= {
                ".".join(parts)
                for parts in names
                if parts and folder.joinpath(*parts).with_suffix(".py").is_file()
            }
    return found
