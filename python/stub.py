"""stub.py FROM TO: mends the types in the stubs of the extension that nanobind wrote to the folder FROM, and writes the stubs
to TO. nanobind writes _crisol.pyi, or a folder _crisol if there are submodules.

The module has names that hide types: crisol.bool hides bool, and the property Tensor.dtype hides the class dtype in the
rest of its class. So an annotation names bool as builtins.bool, and dtype as _dtype, which is another name of the class.
A tuple of anything, and a function without a type, say so. An == that gives tensors breaks a rule of object, as NumPy's
does, so type checkers are told to ignore it.
"""

import ast
import builtins
import pathlib
import sys


def names_of(body):
    """The names that the statements of a module or class define."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets)


class Renamer(ast.NodeTransformer):
    """Gives names in annotations the names that nothing hides."""

    GENERIC = {"tuple": "[typing.Any, ...]", "list": "[typing.Any]", "dict": "[typing.Any, typing.Any]"}

    def __init__(self, new_names):
        self.new_names = new_names

    def visit_Name(self, node):
        return self.parse(self.new_names.get(node.id, node.id) + self.GENERIC.get(node.id, ""))

    def visit_Subscript(self, node):
        if isinstance(node.value, ast.Name):
            node.value = self.parse(self.new_names.get(node.value.id, node.value.id))
        node.slice = self.visit(node.slice)
        return node

    @staticmethod
    def parse(text):
        return ast.parse(text, mode="eval").body


def mend(tree):
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    names = {node.name for node in classes}
    members = {name for node in classes for name in names_of(node.body)}
    new_names = {name: f"_{name}" for name in members & names}
    aliases = "".join(f"{new}: typing.TypeAlias = {name}\n" for name, new in sorted(new_names.items()))
    types = {name for name, value in vars(builtins).items() if isinstance(value, type)}
    new_names |= {name: f"builtins.{name}" for name in types & (members | set(names_of(tree.body))) - names}
    renamer = Renamer(new_names)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "_crisol":  # Its place is crisol._crisol.
            node.module, node.level = None, 1
        elif isinstance(node, ast.FunctionDef):
            node.returns = renamer.visit(node.returns) if node.returns else renamer.parse("typing.Any")
        elif isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation:
            node.annotation = renamer.visit(node.annotation)
    return f"import builtins\nimport typing\n{ast.unparse(tree)}\n{aliases}"


source, target = map(pathlib.Path, sys.argv[1:])
target.mkdir(exist_ok=True)
for path in source.rglob("*.pyi"):
    lines = mend(ast.parse(path.read_text())).splitlines()
    for i, line in enumerate(lines):
        if line.lstrip().startswith(("def __eq__(", "def __ne__(")):
            lines[i] += "  # type: ignore[override]"
    name = "__init__.pyi" if path.name == "_crisol.pyi" else path.name
    (target / name).write_text("\n".join(lines) + "\n")
