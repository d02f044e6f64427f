"""torch.compile(backend="crisol")."""

import copy

import pytest
import torch
import torch_crisol
from compare import DEVICE, assert_same, native
from torch import nn
from torch_crisol import compiler


@pytest.fixture(autouse=True)
def fresh_compiler():
    torch._dynamo.reset()


def chains_of(function, *inputs):
    """How many chains the graph of a function has."""
    graph = torch.fx.experimental.proxy_tensor.make_fx(function)(*inputs)
    return compiler.fuse_chains(graph), graph


def test_torch_knows_the_backend():
    assert "crisol" in torch._dynamo.list_backends(exclude_tags=())


def test_a_chain_is_one_kernel():
    def function(x, y):
        z = torch.tanh(x * 2 + y).sigmoid()
        return z - x, z.sum()

    x, y = torch.randn(6, 5), torch.randn(5)
    inputs = (x.to(DEVICE), y.to(DEVICE))
    count, graph = chains_of(function, *inputs)
    assert count == 1
    assert_same(graph(*inputs), function(x, y))


def test_other_ops_stay_as_they_are():
    def function(x):
        a = x.relu() + 1
        b = a.cumsum(0)
        c = (b.t() * 2).exp()
        return c, a, (b.long() + 1)

    x = torch.randn(4, 3)
    count, graph = chains_of(function, x.to(DEVICE))
    assert count == 1
    assert_same(graph(x.to(DEVICE)), function(x))


def test_a_chain_reads_before_a_change_in_place():
    def function(x):
        y = x * 2 + 1
        x.add_(1)
        return y * x - 1

    x = torch.randn(7)
    _, graph = chains_of(function, x.to(DEVICE))
    assert_same(graph(x.to(DEVICE)), function(x.clone()))


FUNCTIONS = {
    "arithmetic": lambda x, y: torch.add(x, y, alpha=2) * y - (3 - x) / 2,
    "activations": lambda x, y: nn.functional.silu(x) + nn.functional.gelu(y) * nn.functional.leaky_relu(x, 0.1),
    "choices": lambda x, y: torch.where(x > y, x.relu() * 2, torch.maximum(x, -y)),
    "tanh gelu": lambda x, y: nn.functional.gelu(x, approximate="tanh") * y.abs().add(1).log(),
    "types": lambda x, y: (x.half() * 2 + 1).float() * y,
    "broadcast": lambda x, y: (x[:, :1] + y[:1]) * 2 + x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_gradients(name):
    values = {}
    for device in ("cpu", DEVICE):
        torch.manual_seed(0)
        x, y = (torch.randn(6, 5).to(device).requires_grad_() for _ in range(2))
        function = torch.compile(FUNCTIONS[name], backend="crisol") if device == DEVICE else FUNCTIONS[name]
        with native():
            z = function(x, y)
            values[device] = [z.detach(), *torch.autograd.grad(z.sin().sum(), [x, y])]
    tolerance = 2e-3 if name == "types" else 2e-4
    for a, b in zip(values[DEVICE], values["cpu"], strict=True):
        torch.testing.assert_close(a.cpu(), b, rtol=tolerance, atol=tolerance)


def net():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.SiLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 32),
        nn.LayerNorm(32), nn.Tanh(), nn.Linear(32, 10),
    )  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_net_learns_as_on_the_cpu(dynamic):
    torch.manual_seed(0)
    model = net()
    twin = copy.deepcopy(model).to(DEVICE)
    step = torch.compile(twin, backend="crisol", dynamic=dynamic)
    losses = {}
    for device, function, owner in (("cpu", model, model), (DEVICE, step, twin)):
        optimizer = torch.optim.SGD(owner.parameters(), lr=0.05)
        generator = torch.Generator().manual_seed(1)
        losses[device] = []
        for count in (8, 8, 6, 8):
            x = torch.randn(count, 1, 8, 8, generator=generator).to(device)
            labels = torch.randint(10, (count,), generator=generator).to(device)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(function(x), labels)
            loss.backward()
            optimizer.step()
            losses[device].append(loss.item())
    assert losses[DEVICE] == pytest.approx(losses["cpu"], rel=1e-4)


def test_sizes_that_are_known_at_run_time(monkeypatch):
    """One graph serves all sizes, and its chains are kernels."""
    counts = []
    fuse = compiler.fuse_chains
    monkeypatch.setattr(compiler, "fuse_chains", lambda module: counts.append(fuse(module)))

    def function(x, y):
        return (torch.tanh(x * 2 + y).sigmoid() @ y.t()).exp() * 3 - x.shape[0]

    compiled = torch.compile(function, backend="crisol", dynamic=True)
    for rows, columns in ((6, 5), (7, 5), (4, 9)):
        x, y = torch.randn(rows, columns), torch.randn(columns)[None].expand(rows, columns).contiguous()
        inputs = [x.to(DEVICE).requires_grad_(), y.to(DEVICE)]
        with native():
            z = compiled(*inputs)
            z.sum().backward()
        x.requires_grad_()
        expected = function(x, y)
        expected.sum().backward()
        assert_same(z, expected)
        assert_same(inputs[0].grad, x.grad)
    assert len(counts) == 2  # Forward and backward.
    assert min(counts) >= 1


def test_wrong_chains_are_refused():
    chain = torch_crisol._device.Chain
    with pytest.raises(ValueError, match='no function "frobnicate"'):
        chain([("frobnicate", [(0,)])], [1], 1)
    with pytest.raises(ValueError, match="add in a chain has 2 operands, not 1"):
        chain([("add", [(0,)])], [1], 1)
    with pytest.raises(ValueError, match="reads value 1 of 1"):
        chain([("exp", [(1,)])], [1], 1)
    with pytest.raises(ValueError, match="a chain of 2 tensors got 1"):
        chain([("add", [(0,), (1,)])], [2], 2)([torch.ones(2, device=DEVICE)])
