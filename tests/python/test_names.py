"""Every public name has a docstring, and the types of a small program are right."""

import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import subprocess
import sys

import crisol
import pytest


def modules():
    """crisol and its public modules, by the names under which users import them."""
    yield "crisol"
    for module in pkgutil.walk_packages(crisol.__path__, "crisol."):
        if any(part.startswith("_") for part in module.name.split(".")):
            continue
        if module.name != "crisol.dist" or importlib.util.find_spec("crisol._dist"):  # A wheel leaves it out.
            yield module.name


def public_names(name):
    """The classes and functions that a module shows, and those of its classes, as (path, object)."""
    module = importlib.import_module(name)
    for attribute in getattr(module, "__all__", dir(module)):
        value = getattr(module, attribute)
        if attribute.startswith("_") or inspect.ismodule(value):
            continue
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        if (getattr(value, "__module__", None) or "crisol").partition(".")[0] != "crisol":
            continue
        yield f"{name}.{attribute}", value
        if inspect.isclass(value):
            for member, held in vars(value).items():
                if not member.startswith("_") and (callable(held) or inspect.isdatadescriptor(held)):
                    # A method that replaces one with a docstring says the same.
                    yield f"{name}.{attribute}.{member}", getattr(value, member)


@pytest.mark.parametrize("name", list(modules()))
def test_every_public_name_has_a_docstring(name):
    module = importlib.import_module(name)
    assert inspect.getdoc(module), f"{name} has no docstring"
    lacking = [path for path, value in public_names(name) if not has_text(value)]
    assert not lacking


def has_text(value):
    """nanobind's docstring begins with the signature, so a text has more than that line."""
    text = (inspect.getdoc(value) or "").strip()
    lines = [line for line in text.splitlines() if line.strip()]
    is_signature = [line for line in lines if "->" in line and "(" in line]
    return len(lines) > len(is_signature)


def test_reference_has_every_public_name(tmp_path):
    pytest.importorskip("pdoc")
    # As docs/build.sh does: modules that crisol itself does not import are named.
    named = [module for module in ("crisol", "crisol.from_pytorch", "crisol.dist") if module in modules()]
    command = [sys.executable, "-m", "pdoc", "--docformat", "restructuredtext", "--output-directory", str(tmp_path)]
    command += [*named, r"!crisol\._", r"!crisol\.nn\._"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "warn" not in done.stderr.lower(), done.stderr
    for module in modules():
        page = (tmp_path / f"{module.replace('.', '/')}.html").read_text()
        places = set(re.findall(r'id="([^"]+)"', page))
        names = {path.removeprefix(f"{module}.") for path, _ in public_names(module)}
        assert names and names <= places, (module, names - places)


def test_namespace_of_a_tensor():
    x = crisol.ones((2,))
    assert x.__array_namespace__() is crisol and x.__array_namespace__(api_version="2024.12") is crisol
    with pytest.raises(ValueError):
        x.__array_namespace__(api_version="1999.12")


def test_names_of_python_are_not_exported():
    for name in ("math", "dataclass", "NamedTuple", "builtins"):
        assert not hasattr(crisol, name)


PROGRAM = """
import crisol

x = crisol.ones((2, 3))
y: crisol.Tensor = x + 1
shape: tuple[int, ...] = y.shape
total: crisol.Tensor = crisol.sum(y * 2, axis=1)
noise: crisol.Tensor = crisol.randn(2, 3, generator=crisol.Generator(1))
larger: crisol.Tensor = crisol.add(1, x)


@crisol.fuse
def double(a: crisol.Expr) -> crisol.Expr:
    return crisol.add(a, a)


class Scale(crisol.nn.Module):
    def forward(self, x: crisol.Tensor, factor: float) -> tuple[crisol.Tensor, crisol.Tensor]:
        return x, x * factor


results: tuple[crisol.Tensor, crisol.Tensor] = Scale()(x, 2.0)
"""


def mypy(tmp_path, program):
    path = tmp_path / "program.py"
    path.write_text(program)
    # An installed package is found without MYPYPATH, and mypy refuses its folder there.
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", path.name],
        cwd=tmp_path, env={"MYPYPATH": os.environ.get("PYTHONPATH", ""), "PATH": ""}, capture_output=True, text=True,
    )


def test_types_of_a_program(tmp_path):
    pytest.importorskip("mypy")
    result = mypy(tmp_path, PROGRAM)
    assert result.returncode == 0, result.stdout


def test_types_find_a_mistake(tmp_path):
    pytest.importorskip("mypy")
    result = mypy(tmp_path, PROGRAM + "\nwrong: str = crisol.ones((2, 3))\n")
    assert result.returncode == 1 and 'has type "Tensor"' in result.stdout, result.stdout
