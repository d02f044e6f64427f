"""Writes `builtins.bool` for `bool` in the annotations of a stub, and so on: qualify_stub.py INPUT OUTPUT.

The module has a dtype `bool`, and Tensor has members `bool`, `int`, `float`, `dtype` and `device`. In the stub these
names hide the classes.
"""

import ast
import sys

HIDDEN = {"bool", "int", "float"}
ALIASES = {"dtype": "_dtype", "device": "_device"}


class Qualify(ast.NodeTransformer):
    def visit_Name(self, node):
        if node.id in ALIASES:
            return ast.Name(ALIASES[node.id], node.ctx)
        if node.id not in HIDDEN:
            return node
        return ast.Attribute(ast.Name("builtins", ast.Load()), node.id, node.ctx)

    def visit_FunctionDef(self, node):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        for argument in arguments:
            if argument is not None and argument.annotation is not None:
                argument.annotation = self.visit(argument.annotation)
        if node.returns is not None:
            node.returns = self.visit(node.returns)
        return node


def main():
    source, target = sys.argv[1:]
    with open(source) as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            Qualify().visit_FunctionDef(node)
    tree.body.insert(0, ast.Import([ast.alias("builtins")]))
    with open(target, "w") as file:
        file.write("# Made from the extension crisol._crisol.\n")
        for line in ast.unparse(ast.fix_missing_locations(tree)).splitlines():
            # A comparison of tensors gives a tensor, and object's gives a bool.
            compares = line.lstrip().startswith(("def __eq__(", "def __ne__("))
            file.write(line + ("  # type: ignore[override]" if compares else "") + "\n")
        file.write("__version__: str\n")
        for name, alias in ALIASES.items():
            file.write(f"{alias} = {name}\n")


main()
