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


def test_a_chain_is_the_last_step_of_a_product():
    def function(x, weight, bias, residual):
        a = torch.relu(torch.addmm(bias, x, weight.t()))
        b = torch.sigmoid(torch.mm(x, weight.t()) * 2 + residual)
        c = torch.bmm(x[None], weight.t()[None])
        return a, b, c.tanh(), c[0].t()

    def graphs_of(tensors):
        graph = torch.fx.experimental.proxy_tensor.make_fx(function)(*tensors)
        return compiler.fuse_chains(graph), graph

    tensors = [torch.randn(6, 5), torch.randn(4, 5), torch.randn(4), torch.randn(6, 4)]
    on_device = [x.to(DEVICE) for x in tensors]
    count, graph = graphs_of(on_device)
    left = [node.target.__name__ for node in graph.graph.nodes if node.op == "call_function"]
    assert count == 2
    assert "addmm.default" not in left and "mm.default" not in left
    assert "bmm.default" in left  # Others read its result.
    with native():
        assert_same(graph(*on_device), function(*tensors))


def test_a_chain_is_the_last_step_of_a_convolution():
    def function(x, weight, bias, residual):
        a = torch.ops.aten.convolution(x, weight, bias, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
        b = torch.ops.aten.convolution(x, weight, None, [1], [1], [1], False, [0], 1)
        return torch.relu(a + residual), torch.nn.functional.silu(b)

    tensors = [torch.randn(2, 3, 8, 9), torch.randn(4, 3, 3, 3), torch.randn(4), torch.randn(2, 4, 8, 9)]
    on_device = [x.to(DEVICE) for x in tensors]
    graph = torch.fx.experimental.proxy_tensor.make_fx(function)(*on_device)
    assert compiler.fuse_chains(graph) == 2
    assert not graph.graph.find_nodes(op="call_function", target=torch.ops.aten.convolution.default)
    with native():
        assert_same(graph(*on_device), function(*tensors))


def test_a_product_stays_where_its_operand_is_written_before_the_chain():
    def function(x, weight):
        y = x @ weight
        x.add_(1)
        return torch.relu(y) * 2, x

    tensors = [torch.randn(3, 3), torch.randn(3, 3)]
    on_device = [x.to(DEVICE) for x in tensors]
    graph = torch.fx.experimental.proxy_tensor.make_fx(function)(*(x.clone() for x in on_device))
    compiler.fuse_chains(graph)
    assert_same(graph(*on_device), function(*tensors))


@pytest.fixture
def graphs(monkeypatch):
    """The graphs that are compiled during a test."""
    made = []

    class Noted(compiler.Graph):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(compiler, "Graph", Noted)
    return made


def test_a_step_is_captured_and_queued_again(graphs):
    torch.manual_seed(0)
    model = net()
    twin = copy.deepcopy(model).to(DEVICE)
    step = torch.compile(twin, backend="crisol")
    losses = {}
    kept = []
    for device, function, owner in (("cpu", model, model), (DEVICE, step, twin)):
        optimizer = torch.optim.SGD(owner.parameters(), lr=0.05, momentum=0.9)
        generator = torch.Generator().manual_seed(1)
        losses[device] = []
        for _ in range(6):
            x = torch.randn(8, 1, 8, 8, generator=generator).to(device)
            labels = torch.randint(10, (8,), generator=generator).to(device)
            optimizer.zero_grad(set_to_none=True)
            y = function(x)
            kept.append((y, y.detach().clone()))
            loss = nn.functional.cross_entropy(y, labels)
            loss.backward()
            optimizer.step()
            losses[device].append(loss.item())
    assert losses[DEVICE] == pytest.approx(losses["cpu"], rel=1e-4)
    for name, state in twin.state_dict().items():
        if "running" in name or "tracked" in name:
            assert_same(state, model.state_dict()[name])
    for y, then in kept:  # No later call changed a result.
        assert torch.equal(y.detach(), then)
    assert [graph.why_not for graph in graphs] == ["", ""]
    assert [graph.captures() for graph in graphs] == [1, 1]


def test_dropout_in_a_captured_graph_draws_new_numbers(graphs):
    function = torch.compile(lambda x: nn.functional.dropout(x, 0.5) * 2, backend="crisol")
    x = torch.ones(1000, device=DEVICE)
    torch.manual_seed(3)
    first = [function(x) for _ in range(5)]
    assert graphs[0].captures() == 1
    for a, b in zip(first, first[1:], strict=False):
        assert not torch.equal(a, b)
    torch.manual_seed(3)
    assert torch.equal(function(x), first[0])


def test_a_graph_that_needs_the_cpu_runs_op_by_op(graphs):
    def function(x):
        return torch.linalg.inv(x) * 2 + 1

    compiled = torch.compile(function, backend="crisol")
    x = torch.eye(3) + 0.1
    for _ in range(3):
        assert_same(compiled(x.to(DEVICE)), function(x))
    assert "linalg_inv_ex" in graphs[0].why_not


def test_inference_after_the_weights_changed(graphs):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 10)).to(DEVICE)
    compiled = torch.compile(model, backend="crisol")
    for i in range(12):
        x = torch.randn(16, 40)
        with torch.no_grad():
            assert_same(compiled(x.to(DEVICE)), copy.deepcopy(model).cpu()(x))
            if i % 3 == 0:
                model[0].weight.mul_(0.5)
            if i == 7:
                model[2].weight.data = torch.randn(10, 64, device=DEVICE)
    assert graphs[0].captures() >= 1


def test_inputs_that_are_parts_of_other_tensors(graphs):
    compiled = torch.compile(lambda x, y: ((x * 2 + y).exp(), x.sum(0)), backend="crisol", dynamic=False)
    rows = torch.randn(20, 6)
    there = rows.to(DEVICE)
    for i in range(6):
        x, y = rows[i : i + 4, 1:5], rows[i]
        assert_same(compiled(there[i : i + 4, 1:5], there[i, :4]), ((x * 2 + y[:4]).exp(), x.sum(0)))
    assert graphs[0].captures() == 1


def test_long_chains_with_many_tensors_and_numbers():
    def function(*tensors):
        x = tensors[0]
        for i, y in enumerate(tensors[1:]):
            x = torch.tanh(x * (1 + 0.1 * i) + y) - 0.01 * i
        return x, x * 2, x - 1, x + tensors[3]

    tensors = [torch.randn(3, 4) for _ in range(14)]
    on_device = [x.to(DEVICE) for x in tensors]
    count, graph = chains_of(function, *on_device)
    assert count > 1
    assert_same(graph(*on_device), function(*tensors))


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_residual_block_of_sequences(dynamic):
    """Views lie between the products and the elementwise ops."""
    torch.manual_seed(0)
    down, up = nn.Linear(6, 12), nn.Linear(12, 6)
    twins = [copy.deepcopy(x).to(DEVICE) for x in (down, up)]

    def block(down, up, x, scale):
        return (x + up(torch.nn.functional.gelu(down(x)))) * scale

    compiled = torch.compile(block, backend="crisol", dynamic=dynamic)
    for count in (2, 2, 2, 3):
        x, scale = torch.randn(count, 5, 6), torch.randn(6)
        there = x.to(DEVICE).requires_grad_()
        x.requires_grad_()
        with native():
            y = compiled(*twins, there, scale.to(DEVICE))
            y.sin().sum().backward()
        expected = block(down, up, x, scale)
        expected.sin().sum().backward()
        assert_same([y, there.grad, twins[0].weight.grad], [expected, x.grad, down.weight.grad])


@pytest.mark.parametrize("split", ["unbind", "chunk", "negative", "overlap", "half"])
def test_gradients_of_parts_are_joined(split, graphs):
    def function(x):
        if split == "unbind":
            a, b, c = x.unbind(1)
        elif split == "chunk":
            a, b, c = x.chunk(3, 1)
        elif split == "negative":
            a, b, c = x[:, -1], x[:, 0], x[:, -2]
        elif split == "overlap":
            a, b, c = x[:, :2], x[:, 1:3], x[:, :2]
        else:
            a, b, c = x[:, 0], x[:, 0], x[:, 1]
        return (a * b).sin() + c

    x = torch.randn(4, 3, 5)
    there = x.to(DEVICE).requires_grad_()
    x.requires_grad_()
    with native():
        torch.compile(function, backend="crisol", dynamic=False)(there).exp().sum().backward()
    function(x).exp().sum().backward()
    assert_same(there.grad, x.grad)
    names = [node.target.__name__ for node in graphs[1].module.graph.nodes if node.op == "call_function"]
    is_joined = not any("select_backward" in name or "slice_backward" in name for name in names)
    assert is_joined == (split in ("unbind", "chunk", "negative"))


class Attention(nn.Module):
    """The heads are parts of one product, and lie between the rows in memory."""

    def __init__(self):
        super().__init__()
        self.qkv, self.end = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (part.view(2, 6, 4, 4).transpose(1, 2) for part in self.qkv(x).split(16, 2))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.end(y.transpose(1, 2).reshape(2, 6, 16))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_attention_of_heads_from_a_split(graphs, dtype):
    torch.manual_seed(0)
    model = Attention()
    twin = copy.deepcopy(model).to(DEVICE, dtype)
    compiled = torch.compile(twin, backend="crisol")
    for _ in range(4):
        x = torch.randn(2, 6, 16)
        there = x.to(DEVICE, dtype).requires_grad_()
        x.requires_grad_()
        twin.zero_grad()
        with native():
            compiled(there).sin().sum().backward()
        expected = torch.autograd.grad(model(x).sin().sum(), [x, *model.parameters()])
        assert_same([there.grad, *(p.grad for p in twin.parameters())], [g.to(dtype) for g in expected])
    assert [graph.captures() for graph in graphs] == [1, 1]


def test_products_read_transposed_weights_where_they_are(graphs):
    """The weights of the captured gradient change from step to step."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(12, 20), nn.Tanh(), nn.Linear(20, 8))
    twin = copy.deepcopy(model).to(DEVICE)
    compiled = torch.compile(twin, backend="crisol")
    for _ in range(5):
        x = torch.randn(6, 12)
        results = []
        for given, function, owner in ((x, model, model), (x.to(DEVICE), compiled, twin)):
            function(given.requires_grad_()).pow(2).sum().backward()
            results.append([given.grad, *(p.grad for p in owner.parameters())])
            with torch.no_grad():
                for p in owner.parameters():
                    p -= 0.01 * p.grad
                    p.grad = None
        assert_same(*reversed(results))
    assert [graph.captures() for graph in graphs] == [1, 1]
