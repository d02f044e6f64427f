"""stub.py FROM TO: mends the types in the stubs of the extension and its submodules, and writes the stubs to the folder TO.
nanobind wrote them to the folder FROM.

The module has names that hide types: crisol.bool hides bool, and the property Tensor.dtype hides the class dtype in the
rest of its class. So an annotation names bool as builtins.bool, and dtype as _dtype, which is another name of the class.
A tuple of anything, and a function or an argument without a type, say so. An == that gives tensors breaks a rule of
object, as NumPy's does, so type checkers are told to ignore it. A function such as crisol.add has an overload for tensors
and one for expressions, and both take numbers. Type checkers take the first one for numbers alone, as the module does, so
they are told to ignore that the overloads overlap.

pdoc runs the stubs, so their annotations are texts: some name what comes later.

nanobind takes _crisol for a module at the top, but its place is crisol._crisol. The stub of a submodule gets it from there.
A signature that the binding wrote itself may name a class of _crisol without its module, so the stub adds the module.
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

    GENERIC = {
        "tuple": "[typing.Any, ...]",
        "list": "[typing.Any]",
        "dict": "[typing.Any, typing.Any]",
        "Callable": "[..., typing.Any]",
        "os.PathLike": "[str]",
    }

    def __init__(self, new_names):
        self.new_names = new_names

    def visit_Name(self, node):
        return self.parse(self.new_names.get(node.id, node.id) + self.GENERIC.get(node.id, ""))

    def visit_Attribute(self, node):
        name = ast.unparse(node)
        return self.parse(name + self.GENERIC.get(name, ""))

    def visit_Subscript(self, node):
        if isinstance(node.value, ast.Name):
            node.value = self.parse(self.new_names.get(node.value.id, node.value.id))
        node.slice = self.visit(node.slice)
        return node

    @staticmethod
    def parse(text):
        return ast.parse(text, mode="eval").body


def class_names(tree):
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def mend_imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "_crisol":
            node.module, node.level = None, 1
    is_import = [isinstance(node, ast.Import) and node.names[0].name.startswith("_crisol") for node in tree.body]
    if any(is_import):
        tree.body = [node for node, drop in zip(tree.body, is_import) if not drop]
        tree.body.insert(0, ast.parse("from crisol import _crisol").body[0])


def mend(tree, names_of_crisol):
    """The text of a stub. names_of_crisol are the classes that its annotations take from _crisol without naming it."""
    mend_imports(tree)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    names = class_names(tree)
    members = {name for node in classes for name in names_of(node.body)}
    new_names = {name: f"_{name}" for name in members & names}
    aliases = "".join(f"{new}: typing.TypeAlias = {name}\n" for name, new in sorted(new_names.items()))
    types = {name for name, value in vars(builtins).items() if isinstance(value, type)}
    new_names |= {name: f"builtins.{name}" for name in types & (members | set(names_of(tree.body))) - names}
    new_names |= {name: f"_crisol.{name}" for name in names_of_crisol - names}
    renamer = Renamer(new_names)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = renamer.visit(node.returns) if node.returns else renamer.parse("typing.Any")
            for more in filter(None, (node.args.vararg, node.args.kwarg)):
                more.annotation = more.annotation or renamer.parse("typing.Any")
        elif isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation:
            node.annotation = renamer.visit(node.annotation)
    return f"from __future__ import annotations\nimport builtins\nimport typing\n{ast.unparse(tree)}\n{aliases}"


source, target = map(pathlib.Path, sys.argv[1:])
target.mkdir(exist_ok=True)
trees = {path.stem: ast.parse(path.read_text()) for path in source.rglob("*.pyi")}
of_crisol = class_names(trees["__init__"])
for name, tree in trees.items():
    lines = mend(tree, set() if name == "__init__" else of_crisol).splitlines()
    for i, line in enumerate(lines):
        if line.lstrip().startswith(("def __eq__(", "def __ne__(")):
            lines[i] += "  # type: ignore[override]"
    if name == "__init__":
        lines.insert(0, '# mypy: disable-error-code="overload-overlap"')
    (target / f"{name}.pyi").write_text("\n".join(lines) + "\n")
