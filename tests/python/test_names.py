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
from checkout import root
from test_docs import blocks_of


def modules():
    """crisol and its public modules, by the names under which users import them."""
    yield "crisol"
    for module in pkgutil.walk_packages(crisol.__path__, "crisol."):
        if any(part.startswith("_") for part in module.name.split(".")):
            continue
        # A wheel leaves these out. The last one shows the package torch_crisol, which needs PyTorch too.
        needs = {"crisol.distributed": ["crisol._dist"], "crisol.torch": ["torch_crisol", "torch"]}
        if all(importlib.util.find_spec(needed) for needed in needs.get(module.name, [])):
            yield module.name


def is_own(module):
    """Whether a module's name is one of the project's packages, or of a part of one."""
    return module.partition(".")[0] in ("crisol", "torch_crisol")


def public_names(name):
    """The classes and functions that a module shows, and those of its classes, as (path, object)."""
    module = importlib.import_module(name)
    for attribute in getattr(module, "__all__", dir(module)):
        value = getattr(module, attribute)
        if attribute.startswith("_") or inspect.ismodule(value):
            continue
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        if not is_own(getattr(value, "__module__", None) or "crisol"):
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


@pytest.mark.parametrize("name", list(modules()))
def test_source_of_a_class_is_its_own_or_none(name):
    """Many classes name the public module as theirs, and are written in another file."""
    for path, value in public_names(name):
        if inspect.isclass(value):
            try:
                source = inspect.getsource(value)
            except (OSError, TypeError):
                continue
            assert re.match(rf"(\s*@.*\n)*\s*class {value.__name__}\b", source), f"{path}: {source[:80]}"


def has_text(value):
    """nanobind's docstring begins with the signature, so a text has more than that line."""
    text = (inspect.getdoc(value) or "").strip()
    lines = [line for line in text.splitlines() if line.strip()]
    is_signature = [line for line in lines if "->" in line and "(" in line]
    return len(lines) > len(is_signature)


def test_reference_has_every_public_name(tmp_path):
    pytest.importorskip("pdoc")
    # As docs/build.sh does: modules that crisol itself does not import are named.
    named = ["crisol", "crisol.from_pytorch", "crisol.gguf", "crisol.distributed", "crisol.torch"]
    named = [module for module in named if module in modules()]
    command = [sys.executable, "-m", "pdoc", "--docformat", "restructuredtext", "--output-directory", str(tmp_path)]
    command += [*named, r"!crisol\._", r"!crisol\.nn\._"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "warn" not in done.stderr.lower(), done.stderr
    for module in modules():
        page = (tmp_path / f"{module.replace('.', '/')}.html").read_text()
        places = set(re.findall(r'id="([^"]+)"', page))
        names = {path.removeprefix(f"{module}.") for path, _ in public_names(module)}
        assert names or module in ("crisol.utils", "crisol.backends", "crisol.version")  # They hold no functions of their own.
        assert names <= places, (module, names - places)


def test_each_pointwise_op_is_there():
    table = (root / "include/crisol/ops/pointwise.def").read_text()
    rows = re.findall(r"^CRISOL_(UNARY|BINARY|TERNARY)\((\w+),", table, re.MULTILINE)
    assert len(rows) > 50
    assert {name for _, name in rows} <= names_of(crisol)
    assert {name for kind, name in rows if kind != "TERNARY"} <= names_of(crisol.Tensor)


def test_the_binding_uses_the_stable_interface_of_python():
    """The wheel for Python 3.12 and later knows no members of Python's structs, and none of these macros. The builds of
    the tests do."""
    beyond = re.compile(r"->(tp|ob|nb|sq|mp)_\w+|\bPy(Tuple|List)_[GS]ET_[A-Z]+|\bPy[A-Z][a-z]+_AS_?[A-Z]+|\b_Py\w+")
    sources = sorted((root / "python/src").rglob("*.[ch]*"))
    found = [f"{p}: {match[0]}" for p in sources for match in beyond.finditer(p.read_text())]
    assert len(sources) > 30 and not found


def test_namespace_of_a_tensor():
    x = crisol.ones((2,))
    for version in (None, "2021.12", "2024.12", "2025.12"):
        assert x.__array_namespace__(api_version=version) is crisol.array_api
    with pytest.raises(ValueError):
        x.__array_namespace__(api_version="1999.12")
    standard = crisol.array_api
    assert isinstance(standard.broadcast_arrays(x, x), tuple) and isinstance(standard.meshgrid(x, x), tuple)
    assert isinstance(standard.__array_namespace_info__().devices(), tuple) and standard.isin(1, x).item() is True


def names_of(module):
    """The names that completion shows and `import *` takes."""
    return {name for name in dir(module) if not name.startswith("_")}


@pytest.mark.parametrize("name", list(modules()))
def test_no_helpers_are_exported(name):
    module = importlib.import_module(name)
    foreign = {
        attribute
        for attribute in names_of(module)
        if (value := getattr(module, attribute)) is not None
        and (inspect.ismodule(value) or inspect.isclass(value) or inspect.isroutine(value))
        and not is_own(value.__name__ if inspect.ismodule(value) else value.__module__ or "crisol")
    }
    assert not foreign
    # Classes of crisol that other modules import, and helpers that once were public.
    helpers = {"Tensor", "one_object"} if name != "crisol" else {"finfo_object", "iinfo_object", "missing_dtype"}
    assert not names_of(module) & helpers


def written_in_python(name):
    """The functions of a module that are Python, with those of its classes."""
    for path, value in public_names(name):
        held = [value]
        if inspect.isclass(value):
            held = [member for member in vars(value).values() if not getattr(member, "__name__", "_").startswith("_")]
            held += [vars(value)["__init__"]] if "__init__" in vars(value) else []
        for function in held:
            function = getattr(function, "fget", None) or getattr(function, "__func__", function)
            if inspect.isfunction(function) and is_own(function.__module__ or ""):
                yield path, inspect.unwrap(function)


@pytest.mark.parametrize("name", list(modules()))
def test_functions_have_types(name):
    lacking = set()
    for path, function in written_in_python(name):
        names = [*inspect.signature(function).parameters, "return"]
        lacking |= {f"{path}: {n}" for n in names if n not in ("self", "cls") and n not in function.__annotations__}
    assert not lacking


PROGRAM = """
from __future__ import annotations

from collections.abc import Iterator

import crisol
import crisol.nn.functional as F
from crisol import autograd, data, nn, optim

crisol.set_default_device("cpu")
x = crisol.ones((2, 3), device="cpu")
y: crisol.Tensor = x + 1
shape: tuple[int, ...] = y.shape
total: crisol.Tensor = crisol.sum(y * 2, axis=1)
noise: crisol.Tensor = crisol.randn(2, 3, generator=crisol.Generator(1))
larger: crisol.Tensor = crisol.add(1, x)
number: float = x.sum().item()
rows: list[list[float]] = x.tolist()
x[x > 0] = 0


@crisol.fuse
def double(a: crisol.Expr) -> crisol.Expr:
    return crisol.add(a, a)


doubled: crisol.Tensor = double(x)


class Scale(nn.Module):
    def forward(self, x: crisol.Tensor, factor: float) -> tuple[crisol.Tensor, crisol.Tensor]:
        return x, x * factor


results: tuple[crisol.Tensor, crisol.Tensor] = Scale()(x, 2.0)


class Net(nn.Module):
    k: crisol.Tensor

    def __init__(self, n: int) -> None:
        super().__init__()
        self.fc = nn.Linear(n, 4)
        self.out = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.scale = nn.Parameter(crisol.ones(1))
        self.register_buffer("k", crisol.zeros(1))
        nn.init.zeros_(self.fc.bias)

    def forward(self, x: crisol.Tensor) -> crisol.Tensor:
        hidden: crisol.Tensor = self.fc(x)
        return self.out(hidden) * self.scale + self.k


net: Net = Net(3).to("cpu").train()
first: nn.Module = net.out[0]
net.out[1].weight.requires_grad_(False)
optimizer = optim.Adam(net.parameters(), lr=1e-3, betas=(0.9, 0.99))
optimizer.param_groups[0]["lr"] = 1e-2
schedule = optim.lr_scheduler.StepLR(optimizer, step_size=2)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
loader = data.DataLoader(data.TensorDataset(crisol.randn(8, 3), crisol.randint(0, 2, (8,))), batch_size=2)
for inputs, labels in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(net(inputs), labels) + criterion(net(inputs), labels)
    loss.backward()
    norm: crisol.Tensor = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    print(f"{loss.item():.3f}", net.fc.weight.norm().item() + norm.item())
for name, parameter in net.named_parameters():
    print(name.upper(), parameter.shape, parameter.grad is None)
handle = net.register_forward_hook(lambda module, given, output: None)
handle.remove()
crisol.save(net.state_dict(), "net.safetensors")
net.load_state_dict(crisol.load("net.safetensors"))
net.apply(lambda module: None).eval()


@crisol.no_grad()
def accuracy(batches: Iterator[tuple[crisol.Tensor, crisol.Tensor]]) -> float:
    return max(float((net(a).argmax(1) == b).sum()) for a, b in batches)


best: float = accuracy(iter([(x, x.argmax(1))]))
with crisol.no_grad(), crisol.set_grad_enabled(True):
    (gradient,) = autograd.grad(x.sum(), x)


class Square(autograd.Function):
    @staticmethod
    def forward(ctx: autograd.Context, x: crisol.Tensor) -> crisol.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: autograd.Context, dy: crisol.Tensor) -> crisol.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * dy * x


squared: crisol.Tensor = Square.apply(x)


class MySGD(optim.Optimizer):
    def __init__(self, params: Iterator[nn.Parameter], lr: float) -> None:
        super().__init__(params, dict(lr=lr))

    def step(self, closure: object = None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                with crisol.no_grad():
                    p -= group["lr"] * p.grad
                self.state[p]["step"] = 1


own = MySGD(net.parameters(), 0.1)
own.add_param_group({"params": [net.scale]})
own.load_state_dict(own.state_dict())
own_schedule = optim.lr_scheduler.StepLR(own, 1)
"""


README = next(code for *_, language, code in blocks_of(root / "README.md") if language == "python")
FOR_PYTORCH = {path.stem: path.read_text() for path in sorted((root / "samples/python/from_pytorch").glob("*.py"))}
MISTAKES = ["wrong: str = crisol.ones((2, 3))", 'crisol.sin("a")', "net.fc(3)"]
TYPED = {"training": PROGRAM, "readme": README, **FOR_PYTORCH}


@pytest.fixture(scope="module")
def type_errors(tmp_path_factory):
    """mypy's lines about each program of TYPED, and about PROGRAM with MISTAKES. One run, because it reads the stubs of
    the package for three seconds."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("typed")
    for name, program in {**TYPED, "mistakes": "\n".join([PROGRAM, *MISTAKES, ""])}.items():
        (folder / f"{name}.py").write_text(program)
    # An installed package is found without MYPYPATH, and mypy refuses its folder there.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent",
         *sorted(path.name for path in folder.iterdir())],
        cwd=folder, env={"MYPYPATH": os.environ.get("PYTHONPATH", ""), "PATH": ""}, capture_output=True, text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if "error:" in line]
    errors = {name: [line for line in lines if line.startswith(f"{name}.py:")] for name in [*TYPED, "mistakes"]}
    assert sum(map(len, errors.values())) == len(lines), done.stdout
    return errors


@pytest.mark.parametrize("name", TYPED)
def test_types_of_a_program(name, type_errors):
    assert not type_errors[name]


def test_types_find_a_mistake(type_errors):
    assert len(type_errors["mistakes"]) == len(MISTAKES), type_errors["mistakes"]


def test_the_package_needs_no_numpy():
    """The wheel does not depend on NumPy."""
    program = "import sys; sys.modules['numpy'] = None; import crisol; crisol.testing.assert_close({'a': 1.5}, {'a': 1.5})"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr == ""


def test_assert_close_tells_how_far_tensors_are_apart():
    nan, inf = float("nan"), float("inf")
    crisol.testing.assert_close(crisol.asarray([1.0, inf, -2.0]), crisol.asarray([1.0 + 1e-6, inf, -2.0]))
    crisol.testing.assert_close(crisol.asarray([nan, 1.0]), crisol.asarray([nan, 1.0]), equal_nan=True)
    for x, y in (([1.0, nan], [1.0, nan]), ([inf, 1.0], [1.0, 1.0]), ([1.0, inf], [1.0, -inf])):
        with pytest.raises(AssertionError, match="1 of 2 elements differ"):
            crisol.testing.assert_close(crisol.asarray(x), crisol.asarray(y))
    with pytest.raises(AssertionError, match=r"2 of 3 elements differ, by up to 0\.5 "):
        crisol.testing.assert_close(crisol.asarray([1.0, 2.0, 3.0]), crisol.asarray([1.0, 2.25, 3.5]))
