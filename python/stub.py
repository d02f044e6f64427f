"""stub.py FROM TO PACKAGE: mends the types in the stubs of the extension and its submodules, and writes the stubs to the
folder TO. nanobind wrote them to the folder FROM. PACKAGE is the folder of the Python sources.

The module has names that hide types: crisol.bool hides bool, and the property Tensor.dtype hides the class dtype in the
rest of its class. So an annotation names bool as builtins.bool, and dtype as _dtype, which is another name of the class.
A tuple of anything, and a function or an argument without a type, say so. An == that gives tensors breaks a rule of
object, as NumPy's does, so type checkers are told to ignore it. A function such as crisol.add has an overload for tensors
and one for expressions, and both take numbers. Type checkers take the first one for numbers alone, as the module does, so
they are told to ignore that the overloads overlap.

A device may be given by its name. A result of which the binding says nothing may be anything. The parameter of a layer is
None only if the layer was made without it, so programs need no check before each use. A layer is called as its forward().
The members that Python sources add to classes of the extension are in the stubs too: functions under `@_method(Class)`,
`Class.name = property(function)`, `Class.name = function`, and what `_in_place()` and `_aliases()` make. They replace
members of the extension. `import *` takes no function that crisol/_functions replaces.

pdoc runs the stubs, so their annotations are texts: some name what comes later.

nanobind takes _crisol for a module at the top, but its place is crisol._crisol. The stub of a submodule gets it from there.
A signature that the binding wrote itself may name a class of _crisol without its module, so the stub adds the module.
"""

import ast
import builtins
import copy
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
            for target in node.targets:
                yield from (name.id for name in getattr(target, "elts", [target]) if isinstance(name, ast.Name))


def decorated(functions):
    """The functions under `@_method(Class)`, as (class, definition)."""
    return [(name_of(target), node) for node in functions.values() for target in targets_of(node)]


def added_by_calls(tree, functions):
    """The same for a function whose parameter is the class, and which the file calls for several classes."""
    for call in (node.value for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        nested = functions[name_of(call.func)].body if name_of(call.func) in functions else ()
        for node in (node for node in nested if isinstance(node, ast.FunctionDef)):
            for _, argument in zip(targets_of(node), call.args):
                yield name_of(argument), node


def properties(tree, functions):
    """The members of `Class.name = property(getter, setter)` and `Class.name = function`, as (class, definition)."""
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Attribute):
            continue
        owner, is_property = node.targets[0], isinstance(node.value, ast.Call) and name_of(node.value.func) == "property"
        if not is_property and name_of(node.value) not in functions:
            continue
        for i, name in enumerate(map(name_of, node.value.args if is_property else [node.value])):
            member = copy.deepcopy(functions[name])
            member.name = owner.attr
            member.decorator_list = [Renamer.parse(("property", f"{owner.attr}.setter")[i])] if is_property else []
            yield name_of(owner.value), member


def calls_of(tree, name):
    """The statements name(Class, …) of a file."""
    for node in (node.value for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        if name_of(node.func) == name:
            yield node


def derived_names(package):
    """The methods that Python sources make of others, as (class, name, method): _in_place() and _aliases()."""
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text())
        for call in calls_of(tree, "_in_place"):
            yield from ((name_of(call.args[0]), f"{a.value}_", a.value) for a in call.args[1:])
        for call in calls_of(tree, "_aliases"):
            yield from ((name_of(call.args[0]), k.arg, k.value.value) for k in call.keywords)


def add_derived(tree, derived):
    """Gives a class copies of its methods under other names. A method in place gives a tensor."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for owner, new, old in derived:
        if owner not in classes:
            continue
        body = classes[owner].body
        body[:] = [node for node in body if getattr(node, "name", None) != new]
        for node in [node for node in body if isinstance(node, ast.FunctionDef) and node.name == old]:
            made = copy.deepcopy(node)
            made.name = new
            if new == f"{old}_":
                made.returns = Renamer.parse("Tensor")
            body.append(made)


def imports_of(tree, module):
    """What annotations of a file need: its imports for annotations and of results, and the classes of the file."""
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    parent = module.rpartition(".")[0]
    results = [ast.ImportFrom(f"{parent}.{node.module}", node.names, 0) for node in imports if node.module == "_results"]
    imports = [node for node in imports if node.module in ("collections.abc", "typing")]
    classes = [ast.alias(name) for name in sorted(class_names(tree))]
    return imports + results + ([ast.ImportFrom(module, classes, 0)] if classes else [])


class Unfolder(ast.NodeTransformer):
    """Puts the types themselves in the place of a file's names of them, such as Dims = int | Sequence[int]."""

    def __init__(self, tree):
        assigned = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp)]
        self.types = {node.targets[0].id: node.value for node in assigned if isinstance(node.targets[0], ast.Name)}

    def visit_arg(self, node):
        if node.annotation:
            node.annotation = self.unfolded(node.annotation)
        return node

    def unfolded(self, node):
        for part in ast.walk(node):
            for name, value in ast.iter_fields(part):
                if isinstance(value, ast.Name) and value.id in self.types:
                    setattr(part, name, copy.deepcopy(self.types[value.id]))
        return copy.deepcopy(self.types.get(getattr(node, "id", None), node))


def added_members(package):
    """The members with types that the Python sources add to classes of the extension, as (class, definition, imports)."""
    members = []
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text())
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        of_file = [*decorated(functions), *added_by_calls(tree, functions), *properties(tree, functions)]
        module = ".".join(("crisol", *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")
        unfold = Unfolder(tree).visit
        members += [(owner, unfold(stub_of(node)), imports_of(tree, module)) for owner, node in of_file if node.returns]
    return members


def name_of(node):
    """The last part of a.b.c."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def targets_of(function):
    """The arguments of the decorator @_method(…)."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and name_of(decorator.func) == "_method":
            yield from decorator.args


def stub_of(function):
    """A copy of a function with its docstring alone, without @_method."""
    text = ast.get_docstring(function)
    body = [ast.Expr(ast.Constant(text if text else ...))]
    kept = [node for node in function.decorator_list if ast.unparse(node).endswith(("property", ".setter"))]
    stub = ast.FunctionDef(function.name, function.args, body, kept, function.returns)
    return ast.parse(ast.unparse(ast.fix_missing_locations(stub))).body[0]


def add_members(tree, members):
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    needed, added = {}, set()
    for owner, node, imports in members:
        if owner in classes:
            body = classes[owner].body
            if (owner, node.name) not in added:  # A member in Python replaces that of the extension.
                body[:] = [other for other in body if getattr(other, "name", None) != node.name]
            added.add((owner, node.name))
            body.append(node)
            needed |= {ast.unparse(line): line for line in imports}
    tree.body[:0] = needed.values()


def mend_results(tree):
    """Types of results that the binding cannot say."""
    for owner in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for node in owner.body:
            result = ast.unparse(node.returns) if isinstance(node, ast.FunctionDef) and node.returns else ""
            if result.startswith("Parameter | ") and result.endswith("Tensor | None"):
                node.returns = Renamer.parse("Parameter | typing.Any")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.returns and ast.unparse(node.returns) == "object":
            node.returns = Renamer.parse("typing.Any")


def add_calls(tree):
    """Gives each layer a __call__ like its forward(). That of Module takes and gives anything."""
    for owner in (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name != "Module"):
        for node in [node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "forward"]:
            call = ast.parse(ast.unparse(node)).body[0]
            call.name = "__call__"
            owner.body.append(call)


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
    mend_results(tree)
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
            names_device = isinstance(node, ast.arg) and "device" in map(name_of, ast.walk(node.annotation))
            node.annotation = renamer.visit(node.annotation)
            if names_device:
                node.annotation = renamer.parse(f"{ast.unparse(node.annotation)} | {new_names.get('str', 'str')}")
    return f"from __future__ import annotations\nimport builtins\nimport typing\n{ast.unparse(tree)}\n{aliases}"


def public_names(tree):
    names = set(names_of(tree.body)) - {"_"}
    names |= {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names if alias.asname}
    return {name for name in names if not name.startswith("_")}


def replaced_names(package):
    """The names that crisol/_functions defines."""
    trees = [ast.parse(path.read_text()) for path in (package / "_functions").glob("*.py")]
    return {name for tree in trees for name in names_of(tree.body)}


source, target, package = map(pathlib.Path, sys.argv[1:])
target.mkdir(exist_ok=True)
trees = {path.stem: ast.parse(path.read_text()) for path in source.rglob("*.pyi")}
of_crisol = class_names(trees["__init__"])
added = added_members(package)
derived = list(derived_names(package))
add_calls(trees["_nn"])
for name, tree in trees.items():
    add_members(tree, added)
    add_derived(tree, derived)
    lines = mend(tree, set() if name == "__init__" else of_crisol).splitlines()
    for i, line in enumerate(lines):
        if line.lstrip().startswith(("def __eq__(", "def __ne__(")):
            lines[i] += "  # type: ignore[override]"
    if name == "__init__":
        lines.insert(0, '# mypy: disable-error-code="overload-overlap"')
        lines.append(f"__all__ = {sorted(public_names(tree) - replaced_names(package))}")
    (target / f"{name}.pyi").write_text("\n".join(lines) + "\n")
