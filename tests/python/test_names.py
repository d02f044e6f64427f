"""The public names: each has a docstring, and the functions of the Array API standard are there."""

import inspect

import crisol
import pytest


def public(where):
    return [name for name in dir(where) if not name.startswith("_")]


@pytest.mark.parametrize("name", public(crisol))
def test_names_of_the_module_have_docstrings(name):
    value = getattr(crisol, name)
    if inspect.ismodule(value) or isinstance(value, (crisol.dtype, float)) or value is None:
        return
    assert value.__doc__ and value.__doc__.strip()


@pytest.mark.parametrize("owner", [crisol.Tensor, crisol.device, crisol.dtype, crisol.Generator], ids=lambda c: c.__name__)
def test_members_have_docstrings(owner):
    missing = [name for name in public(owner) if not (getattr(owner, name).__doc__ or "").strip()]
    assert missing == []


def test_namespace_of_a_tensor():
    x = crisol.ones((2,))
    assert x.__array_namespace__() is crisol and x.__array_namespace__(api_version="2024.12") is crisol
    with pytest.raises(ValueError):
        x.__array_namespace__(api_version="1999.12")


def test_names_of_python_are_not_exported():
    for name in ("math", "dataclass", "NamedTuple", "builtins"):
        assert not hasattr(crisol, name)
