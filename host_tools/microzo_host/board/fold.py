"""Constants of the device package as literals, before it is compiled for a board.

`const` of MicroPython folds a name within its module. Here the names of net/words.py and of
journal/record.py that other modules read become literals, too: a board then neither looks them up
nor keeps their names, which saves some 5 KB of its heap. Lines stay where they are.
"""

import ast

# Functions stay, but for op_base, which is an expression.
FOLDED = ("net.words", "journal.record")


def constants(package):
    """{module: {name: number or tuple}} of a package folder."""
    values = {}
    for module in FOLDED:
        tree = ast.parse((package / (module.replace(".", "/") + ".py")).read_text())
        values[module] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and node.targets[0].id.isupper():
                value = node.value.args[0] if isinstance(node.value, ast.Call) else node.value
                values[module][node.targets[0].id] = ast.literal_eval(value)
    return values


def folded(text, name, values):
    """The source `text` of module `name` ("net.load"), with the constants of others as values."""
    tree = ast.parse(text)
    aliases = _aliases(tree, name)
    edits, kept = [], set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is(node.func, aliases, "net.words", "op_base"):
            words = values["net.words"]
            if node.lineno == node.end_lineno:
                head = f"({words['HEADER_WORDS']} + {words['OP_WORDS']} * ("
                edits.append((_start(node), _start(node.args[0]), head))
                edits.append((_end(node.args[0]), _end(node), "))"))
                continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = aliases.get(node.value.id)
            value = values.get(module, {}).get(node.attr)
            if value is not None:
                edits.append((_start(node), _end(node), str(value)))
            elif module and not _called_op_base(tree, node):
                kept.add(node.value.id)
    edits += _dropped_imports(tree, aliases, kept)
    return _edited(text, edits)


def _aliases(tree, name):
    """{local name: module} of the folded modules that are imported at the top."""
    here = name.split(".")[:-1]
    aliases = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1] + (node.module or "").split(".")
            for alias in node.names:
                module = ".".join([part for part in base if part] + [alias.name])
                if module in FOLDED:
                    aliases[alias.asname or alias.name] = module
    return aliases


def _is(node, aliases, module, attribute):
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and aliases.get(node.value.id) == module
        and node.attr == attribute
    )


def _called_op_base(tree, attribute):
    """True for the op_base of a call on one line, which becomes an expression."""
    return attribute.attr == "op_base" and any(
        isinstance(node, ast.Call) and node.func is attribute and node.lineno == node.end_lineno
        for node in ast.walk(tree)
    )


def _dropped_imports(tree, aliases, kept):
    """Edits that empty the imports of which nothing is left."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and len(node.names) == 1:
            local = node.names[0].asname or node.names[0].name
            if local in aliases and local not in kept:
                yield _start(node), _end(node), "pass"


def _start(node):
    return node.lineno, node.col_offset


def _end(node):
    return node.end_lineno, node.end_col_offset


def _edited(text, edits):
    """Columns of ast count bytes."""
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for (row, begin), (last, end), new in sorted(edits, reverse=True):
        assert row == last, "a folded constant is on one line"
        line = lines[row - 1]
        lines[row - 1] = line[:begin] + new.encode() + line[end:]
    return b"".join(lines).decode()
