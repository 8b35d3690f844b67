"""What the source of a package says of its structure: imports, and who writes which attribute."""

import ast
import dataclasses


@dataclasses.dataclass(frozen=True)
class Import:
    """Module `source` imports `target`; late: inside a function."""

    source: str
    target: str
    late: bool


class Tree:
    """The modules of some packages in a folder."""

    def __init__(self, folder, packages):
        self.files = {}
        for package in packages:
            for path in sorted((folder / package).rglob("*.py")):
                parts = path.relative_to(folder).with_suffix("").parts
                name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                self.files[name] = path
        self.code = {name: ast.parse(path.read_text()) for name, path in self.files.items()}

    def imports(self):
        """Every Import of one module of the tree by another."""
        for name, code in self.code.items():
            for node, late in _with_lateness(code):
                for target in self._targets(name, node):
                    if target != name:
                        yield Import(name, target, late)

    def calls(self, function):
        """Modules that call a function by its plain name."""
        return {
            name
            for name, code in self.code.items()
            for node in ast.walk(code)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == function
        }

    def foreign_writes(self):
        """(module, line, text, attribute) of assignments to x.attribute where x is another object:
        neither self or cls, nor one of the class that the code stands in."""
        for name, code in self.code.items():
            yield from (
                (name, node.lineno, ast.unparse(node), node.attr)
                for node in _foreign(code, frozenset())
            )

    def record_fields(self):
        """Names of the fields of plain records: dataclasses that are not frozen, and classes that
        have no method but __init__ and __repr__."""
        fields = set()
        for code in self.code.values():
            for node in ast.walk(code):
                if isinstance(node, ast.ClassDef) and _is_record(node):
                    fields |= _declared(node)
        return fields

    def _targets(self, name, node):
        if isinstance(node, ast.Import):
            return [self._known(alias.name) for alias in node.names if self._known(alias.name)]
        base = node.module or ""
        if node.level:
            is_package = self.files[name].name == "__init__.py"
            up = name.split(".")[
                : None if is_package and node.level == 1 else -node.level + is_package
            ]
            base = ".".join([*up, base] if base else up)
        names = [f"{base}.{alias.name}" for alias in node.names]
        return [
            n if n in self.files else base for n in names if n in self.files or base in self.files
        ]

    def _known(self, name):
        """The module of the tree that `import name` brings in, or None."""
        return name if name in self.files else None


def circles(imports):
    """Groups of modules that import each other in a circle."""
    ahead = {}
    for each in imports:
        ahead.setdefault(each.source, set()).add(each.target)
    reach = {name: _reached(name, ahead) for name in ahead}
    groups = {
        frozenset(o for o in reach[n] if n in reach.get(o, ())) for n in reach if n in reach[n]
    }
    return sorted(sorted(group) for group in groups)


def _reached(name, ahead):
    seen, waiting = set(), [name]
    while waiting:
        for target in ahead.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def _with_lateness(code, late=False):
    for node in ast.iter_child_nodes(code):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, late
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _with_lateness(node, late or inside)


def _foreign(node, own):
    """Attribute nodes that are stored to and are no field of `own`, the enclosing class's."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _foreign(child, _declared(child))
            continue
        if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            is_self = isinstance(child.value, ast.Name) and child.value.id in ("self", "cls")
            if not is_self and child.attr not in own:
                yield child
        yield from _foreign(child, own)


def _is_record(node):
    methods = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
    for decorator in node.decorator_list:
        text = ast.unparse(decorator)
        if "dataclass" in text:
            return "frozen=True" not in text
    return not node.bases and "__init__" in methods and methods <= {"__init__", "__repr__"}


def _declared(node):
    """Names that a class declares: annotated fields, __slots__, and what it assigns to self."""
    names = set()
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            names.add(item.target.id)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            if isinstance(inner.value, ast.Name) and inner.value.id == "self":
                names.add(inner.attr)
    return names
