"""Training on the device and on the CPU from the same weights."""

import copy

import pytest
import torch
import torch_crisol
from compare import DEVICE, assert_same, native
from torch import nn
from torch_crisol import fallbacks


def losses(model, optimizer, batches, device):
    result = []
    for x, labels in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        result.append(loss.item())
    return result


def images(count, size, channels=1):
    generator = torch.Generator().manual_seed(1)
    means = torch.randn(10, channels, size, size, generator=generator)
    for _ in range(count):
        labels = torch.randint(10, (16,), generator=generator)
        yield (means[labels] + 0.5 * torch.randn(16, channels, size, size, generator=generator), labels)


def small_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.GELU(),
        nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(144, 32), nn.LayerNorm(32), nn.Tanh(), nn.Linear(32, 10),
    )  # fmt: skip


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-4),
    "sgd fused": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-4, fused=True),
    "adam": lambda p: torch.optim.Adam(p, lr=2e-3),
    "adam fused": lambda p: torch.optim.Adam(p, lr=2e-3, fused=True),
    "adamw fused": lambda p: torch.optim.AdamW(p, lr=2e-3, fused=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-3),
}


def test_a_module_moves_in_place():
    """Weights that two modules share stay one tensor, and an optimiser that was made before keeps its parameters."""

    def tied():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Embedding(10, 6), nn.Tanh(), nn.Linear(6, 10, bias=False))
        model[2].weight = model[0].weight
        return model, torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)

    batches = [(torch.arange(10), torch.arange(10).roll(1))] * 3
    (model, optimizer), (twin, of_twin) = tied(), tied()
    twin.to(DEVICE)
    assert twin[0].weight is twin[2].weight
    assert twin[0].weight.device.type == DEVICE
    expected = losses(model, optimizer, batches, "cpu")
    assert losses(twin, of_twin, batches, DEVICE) == pytest.approx(expected, rel=1e-5)
    assert_same(of_twin.state[twin[0].weight]["momentum_buffer"], optimizer.state[model[0].weight]["momentum_buffer"])
    twin.cpu()
    assert twin[0].weight is twin[2].weight
    assert twin[0].weight.grad.is_cpu
    assert_same(twin[0].weight, model[0].weight)


def test_data_moves_to_the_device_and_back():
    x = torch.zeros(3, requires_grad=True)
    x.data = torch.ones(2, device=DEVICE)
    (2 * x).sum().backward()
    assert_same(x.grad, torch.full((2,), 2.0))
    y = torch.zeros(3, device=DEVICE)
    y.data = torch.ones(2)
    assert y.is_cpu
    assert y.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_cnn_learns_as_on_the_cpu(name):
    torch.manual_seed(0)
    model = small_cnn()
    twin = copy.deepcopy(model).to(DEVICE)
    expected = losses(model, OPTIMIZERS[name](model.parameters()), images(12, 12), "cpu")
    with native():
        actual = losses(twin, OPTIMIZERS[name](twin.parameters()), images(12, 12), DEVICE)
    assert actual == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert expected[-1] < expected[0]
    assert_same(twin[1].running_var, model[1].running_var)


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_a_fused_step_on_the_cpu_starts_anew(kind):
    """The device refuses the second parameter, so the CPU takes the step of both."""
    results = []
    for device in ("cpu", DEVICE):
        first = torch.ones(3, device=device, requires_grad=True)
        second = torch.ones(4, 3, device=device).t().requires_grad_()
        for p in (first, second):
            p.grad = torch.full_like(p, 0.5)
        torch_crisol.set_fallback("silent")
        kind([first, second], lr=0.1, fused=True).step()
        torch_crisol.set_fallback("warn")
        results.append((first.detach().cpu(), second.detach().cpu()))
    torch.testing.assert_close(results[1], results[0])


def step_of(kind, device, dtype):
    """The two parameters after a step. The second one has another type."""
    types = ((3, torch.float32), (4, dtype))
    first, second = (torch.ones(n, device=device, dtype=t, requires_grad=True) for n, t in types)
    for p in (first, second):
        p.grad = torch.full_like(p, 0.5)
    kind([first, second], lr=0.1, fused=True).step()
    return first.detach().cpu(), second.detach().cpu()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_a_fused_step_of_types_that_the_device_does_not_take_changes_each_parameter_once(kind, dtype):
    torch.testing.assert_close(step_of(kind, DEVICE, dtype), step_of(kind, "cpu", dtype))


def test_adam_with_numbers_of_steps_of_several_types_changes_each_parameter_once():
    results = []
    for device in ("cpu", DEVICE):
        lists = [[torch.full((3,), value, device=device) for _ in range(2)] for value in (1.0, 0.5, 0.0, 0.0)]
        steps = [torch.ones((), device=device), torch.ones((), device=device, dtype=torch.float64)]
        settings = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0, "eps": 1e-8}
        if device == "cpu":  # It takes one type.
            steps = [step.float() for step in steps]
        try:
            torch._fused_adam_(*lists, [], steps, **settings, amsgrad=False, maximize=False)
        except RuntimeError:
            assert all(torch.equal(x.cpu(), torch.ones(3)) for x in lists[0])
        else:
            results.append([x.cpu() for x in lists[0]])
    if len(results) == 2:
        torch.testing.assert_close(results[1], results[0])


class UNet(nn.Module):
    """What nets of diffusion have: group norms, attention, and a way down and up again."""

    def __init__(self):
        super().__init__()
        self.first, self.down = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, 2, padding=1)
        self.norms = nn.ModuleList([nn.GroupNorm(2, 8), nn.GroupNorm(4, 16), nn.GroupNorm(1, 24)])
        self.qkv, self.up = nn.Conv2d(16, 48, 1), nn.Upsample(scale_factor=2, mode="bilinear")
        self.last, self.head = nn.Conv2d(24, 4, 3, padding=1), nn.Linear(4 * 144, 10)

    def forward(self, x):
        a = nn.functional.silu(self.norms[0](self.first(x)))
        b = self.norms[1](self.down(a))
        q, k, v = self.qkv(b).flatten(2).unflatten(1, (3, 2, 8)).transpose(3, 4).unbind(1)
        b = b + nn.functional.scaled_dot_product_attention(q, k, v).transpose(2, 3).reshape(b.shape)
        c = self.norms[2](torch.cat([a, self.up(b)], 1))
        return self.head(nn.functional.hardtanh(self.last(c)).flatten(1))


def test_a_net_with_group_norms_and_attention_learns_as_on_the_cpu():
    torch.manual_seed(0)
    model = UNet()
    twin = copy.deepcopy(model).to(DEVICE)
    expected = losses(model, torch.optim.Adam(model.parameters(), lr=2e-3), images(6, 12), "cpu")
    with native():
        actual = losses(twin, torch.optim.Adam(twin.parameters(), lr=2e-3), images(6, 12), DEVICE)
    assert actual == pytest.approx(expected, rel=1e-4, abs=1e-5)


class Sequences(nn.Module):
    def __init__(self, kind, **settings):
        super().__init__()
        self.embedding = nn.Embedding(20, 12, padding_idx=0)
        self.layer = getattr(nn, kind)(12, 16, batch_first=True, **settings)
        self.head = nn.Linear(32 if settings.get("bidirectional") else 16, 10)

    def forward(self, tokens):
        return self.head(self.layer(self.embedding(tokens))[0][:, -1])


def tokens(count):
    generator = torch.Generator().manual_seed(2)
    for _ in range(count):
        x = torch.randint(20, (8, 7), generator=generator)
        yield x, x.sum(1) % 10


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize(
    "settings", [{}, {"num_layers": 2, "bidirectional": True}], ids=["one layer", "two, both ways"]
)
def test_recurrent_nets_learn_as_on_the_cpu(kind, settings):
    torch.manual_seed(0)
    model = Sequences(kind, **settings)
    twin = copy.deepcopy(model).to(DEVICE)
    expected = losses(model, torch.optim.Adam(model.parameters(), lr=5e-3), tokens(8), "cpu")
    with native():
        actual = losses(twin, torch.optim.Adam(twin.parameters(), lr=5e-3), tokens(8), DEVICE)
    assert actual == pytest.approx(expected, rel=1e-4, abs=1e-5)


class Cell(nn.Module):
    """An LSTM cell as tutorials write it."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.from_input, self.from_state = (nn.Linear(inputs, 4 * hidden), nn.Linear(hidden, 4 * hidden))

    def forward(self, x, state):
        h, c = state
        i, f, g, o = (self.from_input(x) + self.from_state(h)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([Cell(5, 8), Cell(8, 8)])
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        states = [(torch.zeros(x.shape[0], 8), torch.zeros(x.shape[0], 8)) for _ in self.cells]
        for step in range(x.shape[1]):
            value = x[:, step]
            for number, cell in enumerate(self.cells):
                states[number] = cell(value, states[number])
                value = nn.functional.dropout(states[number][0], 0.0)
        return self.head(value)


def test_cells_of_tutorials_learn_as_on_the_cpu():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(3)
    batches = [
        (torch.randn(6, 4, 5, generator=generator), torch.randint(10, (6,), generator=generator)) for _ in range(6)
    ]
    model = Stack()
    twin = copy.deepcopy(model).to(DEVICE)
    expected = losses(model, torch.optim.SGD(model.parameters(), lr=0.1), batches, "cpu")
    with native(), torch.device(DEVICE):
        actual = losses(twin, torch.optim.SGD(twin.parameters(), lr=0.1), batches, DEVICE)
    assert actual == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_transformer_learns_as_on_the_cpu():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True, activation="gelu")
    model = nn.Sequential(nn.Embedding(20, 16), nn.TransformerEncoder(layer, 2), nn.Flatten(), nn.Linear(7 * 16, 10))
    twin = copy.deepcopy(model).to(DEVICE)
    expected = losses(model, torch.optim.AdamW(model.parameters(), lr=3e-3), tokens(6), "cpu")
    with fallbacks() as notes:
        actual = losses(twin, torch.optim.AdamW(twin.parameters(), lr=3e-3), tokens(6), DEVICE)
    assert actual == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert set(notes) <= {"aten::isneginf.out"}


def test_mixed_precision():
    torch.manual_seed(0)
    model = small_cnn().to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    scaler = torch.amp.GradScaler(DEVICE)
    result = []
    for x, labels in images(8, 12):
        optimizer.zero_grad()
        with torch.autocast(DEVICE, dtype=torch.float16):
            output = model(x.to(DEVICE))
            loss = nn.functional.cross_entropy(output.float(), labels.to(DEVICE))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        result.append(loss.item())
    assert output.dtype == torch.float16
    assert result[-1] < result[0]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_mixed_precision_of_sequences(kind):
    """A whole sequence is computed in the type of two bytes, and its input may have this type already."""
    torch.manual_seed(0)
    linear, layer = nn.Linear(3, 5), kind(5, 4, 2, batch_first=True, bidirectional=True)
    x = torch.randn(2, 6, 3)
    results, norms = [], []
    for device in ("cpu", DEVICE):
        linear, layer = copy.deepcopy(linear).to(device), copy.deepcopy(layer).to(device)
        with fallbacks() as notes, torch.autocast(device, torch.bfloat16):
            output, state = layer(linear(x.to(device)))
            assert output.dtype == torch.bfloat16
            if device == DEVICE:  # PyTorch's CPU computes a GRU of float32 as it is.
                assert layer(linear(x.to(device)).float())[0].dtype == torch.bfloat16
            output.float().square().sum().backward()
        assert not notes
        results.append([output, state])
        norms.append([p.grad.norm().item() for p in (*layer.parameters(), *linear.parameters())])
    assert_same(results[1], results[0])
    assert norms[1] == pytest.approx(norms[0], rel=0.05)


def test_a_loss_of_many_places():
    """Semantic segmentation: a loss for each pixel."""
    x, labels = torch.randn(2, 4, 64, 64), torch.randint(4, (2, 64, 64))
    labels[0, :5] = 255
    results = []
    for device in ("cpu", DEVICE):
        y = x.to(device).detach().requires_grad_()
        with fallbacks() as notes:
            loss = nn.functional.cross_entropy(y, labels.to(device), ignore_index=255)
            loss.backward()
        assert not notes
        results.append([loss, y.grad])
    assert_same(results[1], results[0])


@pytest.mark.parametrize("found", [0.0, 1.0])
@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.Adagrad])
def test_fused_steps_divide_gradients_by_a_scale(kind, found):
    """What GradScaler.step() gives a fused optimiser. After an overflow the step changes nothing."""
    results = []
    for device in ("cpu", DEVICE):
        p = nn.Parameter(torch.arange(1.0, 6.0, device=device))
        optimizer = kind([p], lr=0.1, weight_decay=0.01, fused=True)
        with fallbacks() as notes:
            for step, found_inf in enumerate([0.0, found, 0.0]):
                p.grad = torch.linspace(-8, 8, 5, device=device) * (step + 1)
                if found_inf:
                    p.grad[2] = torch.inf
                optimizer.grad_scale = torch.tensor(4.0, device=device)
                optimizer.found_inf = torch.tensor(found_inf, device=device)
                optimizer.step()
        assert not notes
        results.append([p.detach(), p.grad, *(x for x in optimizer.state[p].values() if isinstance(x, torch.Tensor))])
    assert_same(results[1], results[0])


LISTS = {
    "add number": lambda x, a, b: torch._foreach_add_(x, 0.5),
    "add": lambda x, a, b: torch._foreach_add_(x, a, alpha=-0.25),
    "mul": lambda x, a, b: torch._foreach_mul_(x, 0.75),
    "div": lambda x, a, b: torch._foreach_div_(x, [2.0, 3.0, 4.0]),
    "lerp": lambda x, a, b: torch._foreach_lerp_(x, a, 0.125),
    "addcmul": lambda x, a, b: torch._foreach_addcmul_(x, a, b, 0.5),
    "addcdiv": lambda x, a, b: torch._foreach_addcdiv_(x, a, b, [0.5, -1.0, 2.0]),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("name", LISTS)
def test_ops_on_lists(name, dtype):
    """Tensors of several shapes, one of them with other strides and one a part of another tensor."""
    shapes = [(3,), (4, 5), ()]
    generator = torch.Generator().manual_seed(2)
    lists = [[torch.rand(shape, generator=generator).add(0.5).to(dtype) for shape in shapes] for _ in range(3)]
    on_device = [[torch.stack([x, x]).to(DEVICE)[1] if x.dim() < 2 else x.t().to(DEVICE).t() for x in y] for y in lists]
    roots = torch._foreach_sqrt(on_device[0])
    for x, root in zip(lists[0], roots, strict=True):
        assert_same(root, x.sqrt())
    LISTS[name](*lists)
    LISTS[name](*on_device)
    for expected, actual in zip(lists[0], on_device[0], strict=True):
        assert_same(actual, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_arithmetic_of_two_tensors(dtype):
    """Two tensors of one layout take a shorter way than others."""
    x = torch.arange(12).reshape(3, 4).sub(5).to(dtype)
    y = torch.tensor([[3, 1, 2, 4]]).expand(3, 4).contiguous().to(dtype)
    cases = [(x, y), (x.t(), y.t()), (x, y[:1]), (x, y.float()), (x[:, 1:3], y[:, 2:]), (x[:0], y[:0])]
    for a, b in cases:
        for function in (torch.add, torch.sub, torch.mul, torch.div):
            if dtype == torch.bool and function is torch.sub:
                continue
            expected, actual = function(a, b), function(a.to(DEVICE), b.to(DEVICE))
            assert (actual.dtype, actual.stride()) == (expected.dtype, expected.stride())
            assert_same(actual, expected)
    if dtype != torch.bool:
        assert_same(torch.add(x.to(DEVICE), y.to(DEVICE), alpha=3), torch.add(x, y, alpha=3))
    with pytest.raises(RuntimeError, match="must match the size"):
        torch.add(x.to(DEVICE), torch.zeros(5, dtype=dtype, device=DEVICE))
