"""The texts of TypeErrors. They say which argument is wrong, what it is, and what the function takes."""

import ast
import os
import re
from collections.abc import Iterable, Mapping

from . import _crisol as _c

_PREFIXES = re.compile(r"\b(collections\.abc|typing|crisol\._crisol(\._\w+)?|crisol\.nn|crisol)\.")


def _dtypes():
    """The names of the dtypes, from the narrowest kind on."""
    held = {dtype.name: sum(_c.promote_types(dtype, other) is dtype for other in _c._dtypes) for dtype in _c._dtypes}
    return sorted(held, key=held.get)


def _listed_dtypes():
    *first, last = _dtypes()
    return f"{', '.join(first)} and {last}"


def explain(name, signatures, args, kwargs):
    """The text for a call that fits none of the signatures."""
    overloads = [_Overload(text, defaults) for text, _, defaults in signatures]
    if overloads[0].is_method:
        args = args[1:]
    if signatures[0][0].startswith("def (self"):  # An assignment to an attribute.
        arg = overloads[0].positional[0][0]
        return f"{name} takes {_taken(arg)}, not {_described(args[0])}{_advice(arg, args[0])}"
    problems = [overload.problem(args, kwargs) for overload in overloads]
    _, text = max(problems, key=lambda problem: problem[0])
    if isinstance(text, _Complete):
        return f"{name}(): {text}"
    calls = "".join(f"\n  {name}({overload.text})" for overload in overloads)
    return f"{name}(): {text}. It is called as{calls}"


class _Complete(str):
    """A text after which no list of signatures is needed."""


class _Overload:
    """One signature."""

    def __init__(self, signature, defaults):
        head = re.sub(r"\\(\d+)", lambda found: _literal(defaults[int(found[1])]), signature)
        tree = ast.parse(re.sub(r"^def \w*\(", "def f(", head) + ": ...").body[0].args
        positional = tree.posonlyargs + tree.args
        self.is_method = bool(positional) and positional[0].arg == "self"
        positional = positional[self.is_method :]
        required = len(positional) - len(tree.defaults)
        self.positional = [(arg, i < required) for i, arg in enumerate(positional)]
        self.only_named = [(arg, default is None) for arg, default in zip(tree.kwonlyargs, tree.kw_defaults)]
        self.rest, self.named_rest = tree.vararg, tree.kwarg
        text = re.sub(r"^def \w*\((self(, )?)?", "", head)
        self.text = _plain(text[: text.rindex(")")] if " -> " not in text else text[: text.rindex(") -> ")])

    def problem(self, args, kwargs):
        """How many arguments fit, and a text about what is wrong."""
        fitting, given = 0, []
        for (arg, _), value in zip(self.positional, args):
            given.append((arg, value))
        if len(args) > len(self.positional):
            if self.rest is None:
                most = f"at most {len(self.positional)}" if self.positional else "no"
                return -1, f"it takes {most} arguments by position, not {len(args)}"
            given += [(self.rest, value) for value in args[len(self.positional) :]]
        names = {arg.arg: arg for arg, _ in self.positional[len(args) :] + self.only_named}
        for key, value in kwargs.items():
            if key in names:
                given.append((names[key], value))
            elif self.named_rest is None:
                taken = any(arg.arg == key for arg, _ in self.positional)
                return -1, f"{key} is given twice" if taken else f"it has no argument '{key}'"
        for arg, value in given:
            if (missing := _missing_device(arg, value)) is not None:
                return fitting + 0.5, _Complete(f"{arg.arg} is {_described(value)}: {missing}")
            if not _accepts(arg.annotation, value):
                return fitting, f"{arg.arg} is {_described(value)}, and it takes {_taken(arg)}{_advice(arg, value)}"
            fitting += 1
        for arg, required in self.positional[len(args) :] + self.only_named:
            if required and arg.arg not in kwargs:
                return fitting, f"the argument '{arg.arg}' is missing"
        shown = ", ".join(f"{arg.arg} is {_described(value)}" for arg, value in given)
        return -0.5, f"the arguments do not fit: {shown}"


def _literal(value):
    text = repr(value)
    return text if re.fullmatch(r"[-\w.'\", ()\[\]{}]+", text) else "..."


def _missing_device(arg, value):
    """The library's error for a device that does not exist, or None."""
    wanted = _taken(arg).split(" | ") if arg.annotation is not None else []
    if "device" not in wanted or not isinstance(value, str):
        return None
    if re.match("b?float|u?int|bool|double|half|long|complex", value):
        return None
    from . import _crisol

    try:
        _crisol.device(value)
    except _crisol.Error as error:
        return error
    return None


def _plain(text):
    text = text.replace("typing_extensions.Buffer", "numpy.ndarray").replace("builtins.", "")
    return _PREFIXES.sub("", text)


def _taken(arg):
    return _plain(ast.unparse(arg.annotation))


def _described(value):
    kind = type(value).__name__
    if value is None:
        return "None"
    if isinstance(value, (bool, int, float, str)):
        text = repr(value)
        return f"the {kind} {text if len(text) < 40 else text[:36] + '…'}"
    if isinstance(value, (list, tuple)) and value:
        parts = sorted({type(part).__name__ for part in value})
        return f"a {kind} of {' and '.join(parts)}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, Mapping):
        for key, part in value.items():
            if not isinstance(key, str) or not _is(part, "Tensor"):
                return f"a {kind} whose {key!r} is {_described(part)}"
    module = type(value).__module__.partition(".")[0]
    return f"a {kind}" if module in ("builtins", "crisol", "__main__") else f"a {module}.{kind}"


def _advice(arg, value):
    wanted = _taken(arg)
    if "dtype" in wanted.split(" | "):
        return f": the dtypes are {_listed_dtypes()}"
    if "Parameter" in wanted and _is(value, "Tensor"):
        return ": nn.Parameter(x) makes a parameter of a tensor"
    if "dict" in wanted and _is(value, "Tensor"):
        return ': {"name": x} gives the tensor a name'
    if "Tensor" in wanted and not _is(value, "Tensor"):
        if "dict" in wanted and isinstance(value, Mapping):
            return _advice_for_dict(value)
        if hasattr(value, "__array__") or isinstance(value, (list, tuple, int, float)):
            return ": crisol.asarray(x) makes a tensor"
        if _is(value, "Module") and "dict" in wanted:
            return ": its state_dict() is a dict of tensors"
    return ""


def _advice_for_dict(value):
    if any(isinstance(part, Mapping) for part in value.values()):
        keep = "save_checkpoint() and load_checkpoint() keep several state dicts"
        return f": {keep}, crisol.Checkpoint(model=…, optimizer=…)"
    return ": crisol.asarray(x) makes a tensor of a number, and metadata={…} keeps texts"


def _is(value, name):
    return any(cls.__name__ == name for cls in type(value).__mro__)


def _accepts(annotation, value):
    """Whether a value may have the type of an annotation. True if this cannot be decided."""
    if annotation is None:
        return True
    if isinstance(annotation, ast.BinOp):
        if "dtype | str" in ast.unparse(annotation) and isinstance(value, str):
            return value in _dtypes()
        return _accepts(annotation.left, value) or _accepts(annotation.right, value)
    if isinstance(annotation, ast.Constant):
        return value is None if annotation.value is None else True
    if isinstance(annotation, ast.Subscript):
        return _accepts_parts(annotation, value)
    name = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "object")
    check = _CHECKS.get(name)
    return check(value) if check else _is(value, name)


def _accepts_parts(annotation, value):
    kind = _plain(ast.unparse(annotation.value))
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if kind in ("dict", "Mapping"):
        return isinstance(value, Mapping) and all(_accepts(parts[1], part) for part in value.values())
    if kind == "tuple":
        varying = isinstance(parts[-1], ast.Constant) and parts[-1].value is ...
        if not isinstance(value, (tuple, list)) or (not varying and len(value) != len(parts)):
            return False
        return all(_accepts(parts[0] if varying else parts[i], part) for i, part in enumerate(value))
    if kind in ("Sequence", "list", "Iterable"):
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            return False
        return not isinstance(value, (list, tuple)) or all(_accepts(parts[0], part) for part in value)
    return _CHECKS.get(kind, lambda _: True)(value)


def _is_whole(value):
    return hasattr(value, "__index__") and not hasattr(value, "__len__")


def _is_number(value):
    return hasattr(value, "__float__") and not hasattr(value, "__len__")


_CHECKS = {
    "int": _is_whole,
    "float": _is_number,
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "bytes": lambda value: isinstance(value, bytes),
    "dtype": lambda value: _is(value, "dtype") or value in (bool, int, float),
    "device": lambda value: _is(value, "device") or (isinstance(value, str) and value not in ("float64", "double")),
    "PathLike": lambda value: isinstance(value, (str, os.PathLike)),
    "Buffer": lambda value: hasattr(value, "__array__") and not _is(value, "Tensor"),
    "Callable": callable,
    "Any": lambda _: True,
    "object": lambda _: True,
    "Self": lambda _: True,
    "dict": lambda value: isinstance(value, Mapping),
    "list": lambda value: isinstance(value, list),
    "tuple": lambda value: isinstance(value, (tuple, list)),
    "Sequence": lambda value: isinstance(value, Iterable) and not isinstance(value, str),
    "Iterable": lambda value: isinstance(value, Iterable),
}
