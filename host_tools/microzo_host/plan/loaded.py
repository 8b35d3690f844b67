"""Which modules of the device package are in a board's RAM while a recipe runs."""

import ast
import functools

from microzo.methods import method

from ..board import fold, push

# What a script such as train.py asks for, with a journal; what begins a run, which a board forgets
# then, but after free memory was measured.
ROOTS = (
    "__init__", "data.cache", "data.sources", "kernel.__init__", "methods.__init__", "net.model",
    "train.store", "train.trainer",
)  # fmt: skip
PLANNING = ("train.start",)
LIVE = ("train.live", "train.live_step", "train.live_store", "train.online")


def before(stages, live=False):
    """Sorted names of the modules in RAM when free memory is measured: those that choose the
    program, and those of all stages of a recipe; live: of samples that come one by one."""
    names = [*PLANNING, *always(stages, live)]
    for stage in stages:
        names += method(stage["kind"]).modules(stage)
    return _closure(names)


def during(stages, live=False):
    """Those in RAM during each stage."""
    rest = always(stages, live)
    return [_closure([*rest, *method(stage["kind"]).modules(stage)]) for stage in stages]


def always(stages, live=False):
    """Those in RAM from the beginning of a run to its end."""
    names = [*ROOTS, *(LIVE if live else ()), "methods.stage"]
    if any(stage["guard"] == "free" for stage in stages):
        names.append("train.free_guard")
    if any(method(stage["kind"]).takes_gradients for stage in stages):
        names.append("methods.gradient")
    else:
        names.append("kernel.gradients")  # it stays until the first gradient
    return _closure(names)


def _closure(names):
    waiting = list(names)
    reached = set()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += _imports(name)
    return sorted(reached)


@functools.cache
def _imports(name):
    """Modules of the package that a module imports when it is loaded itself, as it is compiled for
    boards."""
    folder = push.package_folder()
    here = name.split(".")[:-1]
    names = set()
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    text = fold.folded(path.read_text(), name, fold.constants(folder))
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1] + (node.module or "").split(".")
            base = [part for part in base if part]
            targets = [base] + [[*base, alias.name] for alias in node.names]
            names |= {
                ".".join(parts)
                for parts in targets
                if parts and folder.joinpath(*parts).with_suffix(".py").is_file()
            }
    return names
