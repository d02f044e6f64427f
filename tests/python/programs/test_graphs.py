"""compile, capture, fuse, Kernel, profiles, timelines and precision."""

import gc
import inspect
import json
import weakref

import crisol
import numpy as np
import pytest
from crisol import nn
from numeric import array_of, assert_close, check_gradients, tensor


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 8), nn.ReLU())
        self.head = nn.Linear(8, 2)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.head(self.body(x)) * 2


def test_compile():
    net = Net().eval()
    x = crisol.randn((4, 3))
    fast = crisol.compile(net, x)
    calls = net.calls
    with crisol.no_grad():
        for rows in (4, 2, 4):
            batch = crisol.randn((rows, 3))
            y = fast(batch)
            assert net.calls == calls  # The graph runs, not Python.
            assert_close(y, (net.body(batch) @ net.head.weight.T + net.head.bias) * 2)
        net.head.weight.fill_(0)
        assert_close(fast(x), np.tile(2 * array_of(net.head.bias), (4, 1)))
    assert set(fast.state_dict()) == {f"module.{name}" for name in net.state_dict()}
    assert fast.module is net
    fast.train()
    assert fast(x).requires_grad and net.calls > calls


def test_compile_refuses():
    class Reads(nn.Module):
        def forward(self, x):
            return x * crisol.sum(x).item()

    with pytest.raises(crisol.InvalidArgumentError):
        crisol.compile(Reads().eval(), crisol.ones((1, 2)))

    class Raises(nn.Module):
        def forward(self, x):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        crisol.compile(Raises().eval(), crisol.ones((1, 2)))


def test_capture():
    x, w = crisol.zeros((2, 3)), nn.Parameter(crisol.ones(3))
    optimizer = crisol.optim.SGD([w], lr=0.5)
    loss = None

    def step():
        nonlocal loss
        loss = crisol.sum(crisol.square(x * w))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    step()
    graph = crisol.capture(step)
    assert len(graph) > 0 and graph.in_command_buffer in (True, False)
    expected = np.ones(3)
    for value in (0.1, 0.2, 0.3):
        x.fill_(value)
        graph.replay()
        assert loss.item() == pytest.approx(2 * np.sum((value * expected) ** 2), rel=1e-5)
        expected = expected - 0.5 * 4 * value**2 * expected
        assert_close(w, expected)
    with pytest.raises(KeyError, match="mine"):
        crisol.capture(lambda: {}["mine"])
    with pytest.raises(crisol.InvalidArgumentError):
        crisol.capture(lambda: x.tolist())


def test_fuse():
    traced = []

    @crisol.fuse
    def gate(a, b, factor):
        traced.append(type(a))
        return (a * b + 1).tanh() * crisol.sigmoid(a) / factor - 2 ** abs(b)

    a = np.linspace(-2, 2, 15).astype(np.float32).reshape(3, 5)
    b = np.linspace(0, 1, 5).astype(np.float32)
    expected = np.tanh(a * b + 1) / (1 + np.exp(-a)) / 3 - 2**b
    assert_close(gate(tensor(a), tensor(b), 3), expected)
    assert_close(gate(tensor(a[:1]), tensor(b), 3), expected[:1])
    assert traced == [crisol.Expr]
    check_gradients(lambda x, y: gate(x, y, 2.0), a, b + 0.5)
    assert "fused(" in gate.source(tensor(a), tensor(b), 3)


def test_fuse_several_results_and_reductions():
    @crisol.fuse
    def both(a, b):
        return crisol.maximum(a, b), crisol.where(a > b, a, 0), (a - b).square().sum()

    a, b = np.array([1, -2, 3], dtype=np.float32), np.array([0, 5, 4], dtype=np.float32)
    larger, chosen, distance = both(tensor(a), tensor(b))
    assert_close(larger, np.maximum(a, b))
    assert_close(chosen, [1, 0, 0])
    assert_close(distance, 51)
    inner = crisol.fuse(lambda x: x * x)
    outer = crisol.fuse(lambda x: inner(x) + 1)
    assert_close(outer(tensor(a)), a * a + 1)
    leaf = tensor(a, requires_grad=True)
    y = crisol.fuse(lambda x: x * x * x)(leaf)  # Nothing keeps the function.
    gc.collect()
    crisol.sum(y).backward()
    assert_close(leaf.grad, 3 * a * a)
    half = crisol.fuse(lambda x: x.to(crisol.float16))
    assert half(tensor(a)).dtype is crisol.float16


def test_fuse_errors():
    @crisol.fuse
    def fails(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fails(tensor([1]))
    with pytest.raises(TypeError):
        crisol.fuse(lambda x: "text")(tensor([1]))
    with pytest.raises(crisol.InvalidArgumentError):
        crisol.fuse(lambda x, y: x + y)(tensor([1, 2]), tensor([1, 2, 3]))
    with pytest.raises(TypeError):
        crisol.fuse(3)


def test_fuse_refuses_control_flow():
    programs = [lambda x: x if x > 0 else -x, lambda x: 0 < x < 1, lambda x: x and 2 * x, lambda x: not x]
    for program in [*programs, lambda x: max(x, 0), lambda x: x in (1, 2)]:
        with pytest.raises(TypeError, match="use crisol.where instead of if"):
            crisol.fuse(program)(tensor([-1, 2]))


def test_fuse_operators_of_truth_values():
    x = np.array([-2, -1, 0, 1, 2], dtype=np.float32)
    mask = np.array([True, False, True, True, False])
    programs = [
        lambda x, mask: (x > -2) & (x < 1),
        lambda x, mask: mask | (x == 1),
        lambda x, mask: ~mask ^ (x < 0) ^ True,
        lambda x, mask: True & (mask * (x != 0)),
    ]
    for program in programs:
        result = crisol.fuse(program)(tensor(x), crisol.asarray(mask))
        assert result.dtype is crisol.bool and result.tolist() == program(x, mask).tolist()
    chosen = crisol.fuse(lambda x: crisol.where(crisol.where(x > 0, True, x < -1) & (x > -9).to(crisol.bool), x // 2, 0))
    assert chosen(tensor(x)).tolist() == [-1, 0, 0, 0, 1]
    for program in (lambda x: x & 1, lambda x: (x > 0) | x, lambda x: ~x, lambda x: 2 ^ x, lambda x: (x > 0) & 1):
        with pytest.raises(TypeError, match="crisol.logical_and"):
            crisol.fuse(program)(crisol.asarray([1, 2]))  # Bits of whole numbers.


def test_fuse_looks_like_its_function():
    @crisol.fuse
    def gate(x, *, scale=1):
        """Scales."""
        return x * scale

    assert (gate.__name__, gate.__doc__, gate.__module__) == ("gate", "Scales.", __name__)
    assert str(inspect.signature(gate)) == "(x, *, scale=1)"


def test_fuse_keyword_arguments():
    @crisol.fuse
    def line(x, scale=1, *, add=0, subtract=0):
        return x * scale + add - subtract

    x, y = tensor([1, 2]), tensor([10, 20])
    assert_close(line(x), [1, 2])
    assert_close(line(x, add=y), [11, 22])
    assert_close(line(x, subtract=y), [-9, -18])  # One tensor more in both calls, but another one.
    assert_close(line(x, add=y, subtract=x), [10, 20])
    assert_close(line(x, subtract=y, add=x), [-8, -16])
    assert_close(line(x, scale=3, add=1), [4, 7])
    assert_close(line(x=x, add=1), [2, 3])
    assert "fused(" in line.source(x, add=y)
    outer = crisol.fuse(lambda x: line(x, add=x, subtract=1))
    assert_close(outer(x), [1, 3])
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        line(x, other=1)


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    @crisol.fuse
    def apply(self, x, add=0):
        """Scales."""
        return x * self.factor + add


def test_fuse_of_a_method():
    x = tensor([1, 2])
    two, three = Scaled(2), Scaled(3)
    for _ in range(2):
        assert_close(two.apply(x), [2, 4])
        assert_close(three.apply(x, add=x), [4, 8])
        assert_close(three.apply(x), [3, 6])
    assert_close(crisol.fuse(lambda x: two.apply(x))(x), [2, 4])
    assert "fused(" in two.apply.source(x) and two.apply.__doc__ == "Scales." and Scaled.apply.__name__ == "apply"
    instance = weakref.ref(two)
    del two
    gc.collect()
    assert instance() is None


SCALE = """
__kernel void scale(__global const float* x, __global float* y, float factor, T count) {
  const size_t i = get_global_id(0);
  if (i < count) y[i] = factor * x[i] + OFFSET;
}
"""


def test_kernel():
    scale = crisol.Kernel(SCALE, "scale", group=4, defines={"OFFSET": 0.5, "T": "int"})
    assert scale.name == "scale"
    x, y = crisol.arange(7, dtype=crisol.float32), crisol.zeros(8)
    scale(8, x, y, 2.0, 7)
    assert_close(y, [*(2 * np.arange(7) + 0.5), 0])
    with pytest.raises(crisol.InvalidArgumentError, match="group"):
        scale(7, x, y, 2.0, 7)
    with pytest.raises(crisol.InvalidArgumentError, match="count"):
        scale(8, x, y, 2.0, 2.5)
    with pytest.raises(crisol.InvalidArgumentError):
        scale(8, x, y)
    with pytest.raises(crisol.InvalidArgumentError, match="other"):
        crisol.Kernel(SCALE, "other")
    with pytest.raises(crisol.BuildError):
        crisol.Kernel("__kernel void bad(__global float* x) { x[0] = missing; }", "bad")(1, y)


def test_kernel_with_a_gradient():
    forward = crisol.Kernel(
        "__kernel void cube(__global const float* x, __global float* y)"
        "{ size_t i = get_global_id(0); y[i] = x[i] * x[i] * x[i]; }",
        "cube",
    )

    class Cube(crisol.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            y = crisol.empty(x.shape)
            forward(x.numel(), x.contiguous(), y)
            return y

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensors
            return 3 * x * x * dy

    check_gradients(Cube.apply, np.linspace(-1, 1, 6).reshape(2, 3))


def test_profile():
    x = crisol.ones((16, 16))
    with crisol.Profile() as profile:
        for _ in range(3):
            x = crisol.tanh(x)
    (row,) = [r for r in profile.rows if r.launches == 3]
    assert 0 <= row.min_ms <= row.max_ms <= row.total_ms and row.kernel in str(profile)


def test_trace(tmp_path):
    path = tmp_path / "trace.json"
    with crisol.trace.file(path):
        assert crisol.trace.active()
        with crisol.trace.scope("my step"):
            crisol.ones(3) + 1
    assert not crisol.trace.active()
    events = json.loads(path.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    assert any(event.get("name") == "my step" for event in events)


def test_precision():
    before = crisol.get_precision()
    with crisol.with_precision("fp16"):
        assert crisol.get_precision() == "fp16"
    assert crisol.get_precision() == before
    crisol.set_precision("tf32")
    assert crisol.get_precision() == "tf32"
    crisol.set_precision(before)
    with pytest.raises(ValueError, match="fp64"):
        crisol.set_precision("fp64")
