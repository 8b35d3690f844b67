"""What the declarations of methods say of settings, rules and recipes, as rows and as pages.

The comment behind a row of a declaration is its documentation: it is read from the source.
"""

import ast
import functools
import inspect
import io
import pkgutil
import re
import sys
import tokenize
from collections import namedtuple

from microzo import methods
from microzo.methods import method
from microzo.recipes.names import RECIPES
from microzo.zo.rules import RULES

Setting = namedtuple("Setting", "name default allowed text optional")
_ALIKE = 10  # settings in common, from which on a table tells only what differs


def kinds():
    """All methods, in the order in which recipes name them."""
    modules = [m.name for m in pkgutil.iter_modules(methods.__path__)]
    names = [name for name in modules if hasattr(_module(name), "METHOD")]
    order = [kind for stages in RECIPES.values() for kind, _ in stages]
    return sorted(names, key=lambda name: (order + names).index(name))


def rows(kind):
    """{name: row} as the method declares them."""
    declared = method(kind)
    return {row[0]: row for row in declared.settings + declared.options}


def settings(kind):
    """[Setting] of a method; ValueError for one without documentation."""
    optional = {row[0] for row in method(kind).options}
    return [
        Setting(name, _value(row[1]), _allowed(row), _text(kind, name), name in optional)
        for name, row in rows(kind).items()
    ]


def about(kind):
    """The first paragraph of the method's file, without its name."""
    return _first_paragraph(_module(kind)).partition(": ")[2]


def _module(name):
    return __import__(f"microzo.methods.{name}", None, None, ("x",))


def _first_paragraph(documented):
    return " ".join(inspect.getdoc(documented).split("\n\n")[0].split())


def _text(kind, name):
    """From the method's file, those it builds on, then those it takes single rows from."""
    bases = [base.__module__ for base in type(method(kind)).__mro__]
    others = sorted(n for n in sys.modules if n.startswith("microzo.methods."))
    for module in bases + others:
        if module.startswith("microzo.methods.") and name in _comments(module):
            return _comments(module)[name]
    raise ValueError(f"{kind}.{name} has no documentation: write a comment behind its row")


@functools.cache
def _comments(module):
    """{name: the comment behind its row} of a module."""
    source = inspect.getsource(sys.modules[module])
    behind = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    tuples = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Tuple)]
    return {
        node.elts[0].value: behind[node.end_lineno]
        for node in tuples
        if len(node.elts) > 2
        and isinstance(node.elts[0], ast.Constant)
        and node.end_lineno in behind
    }


def _value(default):
    if isinstance(default, tuple):
        return ", ".join(f'"{word}"' for word in default)
    return f'"{default}"' if isinstance(default, str) else str(default)


def _allowed(row):
    if isinstance(row[1], str | tuple):
        return ", ".join(f'"{word}"' for word in row[2])
    return f"{row[2]}..{row[3]}"


def settings_text(kind):
    """The settings of a method, a line each, for the terminal."""
    lines = [f"{kind}: {about(kind)}"]
    for s in settings(kind):
        words = f"{kind}.{s.name} ({s.allowed})"
        lines.append(f"  {words}  {s.text}")
    return "\n".join(lines)


# pages


def settings_page():
    """A section for each kind."""
    lines, before = [], {}
    for kind in kinds():
        own = settings(kind)
        like = next((k for k in before if len(set(before[k]) & set(own)) >= _ALIKE), None)
        lines += [f"## {kind}", "", _sentence(about(kind)), ""]
        if like:
            missing = [s.name for s in before[like] if s.name not in {o.name for o in own}]
            without = f", without {_names(missing)}" if missing else ""
            lines += [f"The settings of {like}{without}. What differs:", ""]
            own = [setting for setting in own if setting not in before[like]]
        lines += _table(own)
        before[kind] = settings(kind)
    return "\n".join(lines)


def rules_page():
    lines = []
    for name, rule in RULES.items():
        paragraphs = inspect.getdoc(rule).split("\n\n")
        lines.append(f"**{name}.** " + _sentence(" ".join(paragraphs[0].split())))
        lines.append("")
        for paragraph in paragraphs[1:]:
            code = paragraph.startswith("    ")
            text = inspect.cleandoc(paragraph) if code else " ".join(paragraph.split())
            lines += ["```", text, "```", ""] if code else [text, ""]
    return "\n".join(lines)


def recipes_page():
    lines = ["| recipe | stages, and what differs from their defaults | labels |", "|---|---|---|"]
    for name, stages in RECIPES.items():
        text = ", ".join(_stage(*stage) for stage in stages)
        labels = "yes" if any(method(kind).labels for kind, _ in stages) else "no"
        lines.append(f"| `{name}` | {text} | {labels} |")
    return "\n".join(lines) + "\n"


PAGES = {  # marker: (page, what stands between the markers)
    "settings": ("docs/reference/settings.md", settings_page),
    "rules": ("docs/reference/settings.md", rules_page),
    "recipes": ("docs/reference/recipes.md", recipes_page),
}


def replaced(text, marker):
    """A page with what stands between its markers made anew."""
    pattern = rf"(<!-- {marker}: begin -->\n).*?(<!-- {marker}: end -->)"
    new, count = re.subn(
        pattern, lambda m: m[1] + "\n" + PAGES[marker][1]() + "\n" + m[2], text, flags=re.S
    )
    if count != 1:
        raise ValueError(f"the page has no place for {marker}: write its two markers")
    return new


def _stage(kind, changes):
    if not changes:
        return kind
    return f"{kind} ({', '.join(f'{key} {_value(value)}' for key, value in changes.items())})"


def _table(own):
    lines = ["| setting | default | allowed | what |", "|---|---|---|---|"]
    for s in own:
        off = s.optional and s.default in ("0", '""')
        default = "off" if off else s.default + " (optional)" * s.optional
        text = s.text.replace("|", "\\|")
        lines.append(f"| `{s.name}` | {default} | {s.allowed} | {text} |")
    return [*lines, ""]


def _names(names):
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _sentence(text):
    return text[:1].upper() + text[1:].rstrip(".") + "."
