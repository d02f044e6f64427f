"""Messages: a TypeError names the function, the argument, and what it takes; advice names things that Python has."""

import re
from pathlib import Path

import crisol
import numpy as np
import pytest
from checkout import root
from crisol import data, nn, optim
from crisol.nn import functional as F

x = crisol.ones(2, 3)
net = nn.Linear(2, 2)
CALLS = [
    (lambda: crisol.ones("a"), r"crisol.ones\(\): shape is the str 'a', and it takes int \| Sequence\[int\]"),
    (lambda: crisol.ones(2, dtype="float128"), "dtype is the str 'float128', .*: the dtypes are bool, uint8"),
    (lambda: crisol.ones(2, dtype=np.complex64), "dtype is the class complex64, .*: the dtypes are bool, uint8"),
    (lambda: x.to("cuda"), "Tensor.to.*: device is the str 'cuda': .*no device matches"),
    (lambda: crisol.randn(2, device=3), r"crisol.randn\(\): device is the int 3, and it takes device \| None"),
    (lambda: x.sum(dims=1), r"Tensor.sum\(\): it has no argument 'dims'"),
    (lambda: x.sum(1, axis=1), r"Tensor.sum\(\): axis and dim are the same argument: give one of them"),
    (lambda: x.item(3), r"Tensor.item\(\): it takes no arguments by position, not 1"),
    (lambda: x.reshape(2, "a"), r"Tensor.reshape\(\): shape is the str 'a'"),
    (lambda: crisol.matmul(x, [1, 2]), r"crisol.matmul\(\): x2 is a list of int, .*crisol.asarray\(x\) makes a tensor"),
    (lambda: crisol.concat([x, 3]), "crisol.cat.*: tensors is a list of Tensor and int"),
    (lambda: nn.Linear(2), r"Linear\(\): the argument 'out_features' is missing"),
    (lambda: nn.Linear("a", 2), r"Linear\(\): in_features is the str 'a', and it takes int"),
    (lambda: net(np.ones((1, 2))), r"Linear.forward\(\): input is a numpy.ndarray, .*crisol.asarray\(x\) makes a tensor"),
    (lambda: setattr(net, "weight", x), r"Linear.weight takes Parameter, not a Tensor: nn.Parameter\(x\)"),
    (lambda: net.load_state_dict({"model": {}}), "Module.load_state_dict.*state_dict is a dict whose 'model' is a d"),
    (lambda: net.load_state_dict(net), r"load_state_dict\(\) takes a dict .*: give its state_dict\(\)"),
    (lambda: net.register_buffer("b", 3), r"register_buffer\(\): 'b' is a int"),
    (lambda: nn.Sequential([net]), r"Sequential\(\): a list is no module; give its elements"),
    (lambda: nn.ModuleList(3), r"ModuleList\(\): 'int' object is not iterable"),
    (lambda: F.relu([1]), r"crisol.*relu\(\): input is a list of int"),
    (lambda: F.layer_norm(x), r"crisol.nn.functional.layer_norm\(\): the argument 'normalized_shape' is missing"),
    (lambda: optim.SGD(["a"]), 'params are tensors, pairs .* or dicts with "params", not a str'),
    (lambda: optim.SGD(net.parameters), "params are tensors, pairs .*, not a method"),
    (lambda: optim.SGD(net.parameters(), lr="a"), r"SGD\(\): lr is the str 'a', and it takes float"),
    (lambda: optim.lr_scheduler.StepLR(net, 3), r"StepLR\(\): optimizer is a Linear, and it takes optim.Optimizer"),
    (lambda: data.DataLoader([1], batch_size="a"), r"DataLoader\(\): batch_size is the str 'a', and it takes int"),
    (lambda: data.DataLoader([1], num_workers="a"), "num_workers is 'a', it must be an int"),
    (lambda: crisol.save({"model": {(1, 2): x}}, "f"), r"\[save\] 'model' has a key that is a tuple, and keys are"),
    (lambda: crisol.fuse(3), r"fuse\(\): function is the int 3, and it takes Callable"),
    (lambda: crisol.fuse(lambda a: a)("x"), r"fuse\(\): args is the str 'x', and it takes Tensor"),
    (lambda: crisol.autograd.grad(3, x), r"grad\(\) takes a tensor or a sequence of tensors, not a int"),
    (lambda: x.register_hook(3), r"Tensor.register_hook\(\): hook is the int 3"),
    (lambda: crisol.Tensor(1, "a"), r"Tensor\(\): the arguments do not fit: data is the int 1, data is the str 'a'"),
]


@pytest.mark.parametrize("call, text", CALLS, ids=range(len(CALLS)))
def test_type_errors_name_the_argument(call, text, capfd):
    with pytest.raises(TypeError, match=re.compile(text, re.DOTALL)) as raised:
        call()
    assert "a part of an argument" not in str(raised.value) and "incompatible function" not in str(raised.value)
    assert capfd.readouterr().err == ""


def test_errors_of_python_code_stay():
    def fails(gradient):
        raise TypeError("mine")

    y = crisol.ones(2).requires_grad_() * 2
    y.register_hook(fails)
    with pytest.raises(TypeError, match="^mine$"):
        crisol.sum(y).backward()
    z = crisol.ones(2).requires_grad_() * 2
    z.register_hook(lambda gradient: "text")
    with pytest.raises(TypeError, match=r"a hook of register_hook\(\) returned a str"):
        crisol.sum(z).backward()

    class Wrong(crisol.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, dy):
            return "text"

    with pytest.raises(TypeError, match=r"Wrong.backward\(\) returned a str for argument 0"):
        crisol.sum(Wrong.apply(crisol.ones(2).requires_grad_())).backward()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sum(5), lambda x: x[5], lambda x: x.squeeze(4), lambda x: x.unsqueeze(4), lambda x: x.flip(5),
        lambda x: crisol.cat([x], 3), lambda x: crisol.stack([x], 7), lambda x: x.select(0, 9), lambda x: x.select(9, 0),
        lambda x: x.permute(0, 5), lambda x: x.transpose(0, 3), lambda x: x.unflatten(4, (1, 2)), lambda x: x.size(7),
        lambda x: x.chunk(2, 9), lambda x: crisol.split(x, 1, 9), lambda x: nn.functional.softmax(x, 9),
        lambda x: x.argmax(9), lambda x: x.cumsum(4), lambda x: x.sort(3), lambda x: x.roll(1, 3),
        lambda x: x.index_select(4, crisol.tensor([0])), lambda x: x.gather(3, crisol.zeros(1, 1, dtype=crisol.int64)),
        lambda x: x.unbind(3), lambda x: x.movedim(3, 0), lambda x: crisol.diff(x, dim=2), lambda x: x.var(2),
        lambda x: x.norm(dim=2), lambda x: x.max(2), lambda x: crisol.logsumexp(x, 3), lambda x: x.flatten(3),
    ],
)  # fmt: skip
def test_an_axis_or_a_position_that_does_not_exist_is_an_index_error(function):
    with pytest.raises(IndexError):
        function(crisol.ones(2, 3))


def test_habits_of_pytorch():
    assert x.size == 6 and x.size() == (2, 3) and x.size(0) == 2 and x.size(-1) == 3 and x.size + 1 == 7
    with pytest.raises(IndexError, match=r"\[size\] there is no axis 2"):
        x.size(2)
    assert crisol.Tensor([1, 2]).tolist() == [1, 2] and crisol.Tensor([1, 2]).dtype is crisol.float32
    assert crisol.Tensor(2, 3).shape == (2, 3) and crisol.Tensor().shape == (0,) and crisol.Tensor(x).shape == (2, 3)
    assert crisol.trace(crisol.eye(2)).item() == 2
    for params in (net.named_parameters(), [{"params": net.named_parameters()}]):
        assert len(optim.SGD(params, lr=0.1).param_groups[0]["params"]) == 2

    class Own(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 0.1})

    assert len(Own(net.named_parameters()).param_groups[0]["params"]) == 2
    net.load_state_dict({"weight": np.full((2, 2), 3.0), "bias": np.zeros(2, np.float32)})
    assert net.weight.tolist() == [[3, 3], [3, 3]]


def test_load_says_what_reads_the_file(tmp_path):
    (tmp_path / "net.pt").write_bytes(b"PK\x03\x04" + bytes(100))
    (tmp_path / "old.pt").write_bytes(b"\x80\x02\x8a\nl\xfc\x9cF" + bytes(100))
    np.save(tmp_path / "x.npy", np.ones(2))
    (tmp_path / "net.onnx").write_bytes(bytes(100))
    for name in ("net.pt", "old.pt"):
        with pytest.raises(crisol.FileError, match=f"python -m crisol.from_pytorch {name} {name[:-3]}.safetensors"):
            crisol.load(tmp_path / name)
    with pytest.raises(crisol.FileError, match=r"use load_npy\(\)"):
        crisol.load(tmp_path / "x.npy")
    with pytest.raises(crisol.FileError, match=r"crisol.onnx.load\(\)"):
        crisol.load(tmp_path / "net.onnx")


def places():
    """The objects whose members messages name."""
    yield from (crisol, nn, F, nn.utils, optim, optim.lr_scheduler, data)
    yield from (crisol.Tensor, nn.Module, optim.Optimizer, optim.EMA, data.DataLoader, crisol.autograd, crisol.onnx)
    yield from (crisol.Checkpoint, crisol.Generator, crisol.linalg, crisol.trace)


# Members of crisol.distributed, which is not built everywhere, and of C++ in messages of functions that Python does not have.
OTHERS = {"init", "finish", "clip_grad_norm", "fork", "next", "sequence"}


def messages(text):
    """The texts that a source passes to require() and fail(), each with its parts joined."""
    for call in re.finditer(r"\b(?:require|fail|refuse\w*)\(", text):
        end = text.find(");", call.end())
        yield " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text[call.end() : end]))


def test_advice_names_what_python_has():
    """Messages of the library that name something to call, after the change of names for Python."""
    unknown, found = set(), 0
    for path in Path(root, "lib").rglob("*.cpp"):
        if path.relative_to(root).parts[1] in ("cli", "null_driver", "reference", "c_api"):
            continue
        for message in map(crisol._crisol._message, messages(re.sub(r"//[^\n]*", "", path.read_text()))):
            names = re.findall(r"(\w+)\(\)", message)
            found += len(names)
            names = [n for n in names if n not in OTHERS and not any(hasattr(place, n) for place in places())]
            unknown.update((path.name, name) for name in names + re.findall(r"\w+::\w+", message))
    assert unknown == set() and found > 10
