"""crisol.optim: steps against NumPy, groups, states, clipping, averages."""

import copy

import crisol
import numpy as np
import pytest
from crisol import nn, optim
from numeric import array_of, assert_close, parameter, tensor


def give_gradient(p, gradient):
    p.backward(tensor(gradient)) if p.dim() == 0 else crisol.sum(p * tensor(gradient)).backward()


def run(optimizer, p, gradients):
    values = []
    for g in gradients:
        optimizer.zero_grad()
        give_gradient(p, g)
        optimizer.step()
        values.append(array_of(p).copy())
    return values


GRADIENTS = [np.array([1.0, -2.0]), np.array([0.5, 3.0]), np.array([-1.0, 0.1])]
START = np.array([1.0, -1.0])


def sgd(p, lr=0.1, momentum=0.9, decay=0.01):
    b = None
    for g in GRADIENTS:
        g = g + decay * p
        b = g if b is None else momentum * b + g
        p = p - lr * (g + momentum * b)
        yield p


def adam(p, lr=0.1, beta1=0.8, beta2=0.9, eps=1e-6, decay=0.0, decoupled=False):
    m = v = 0
    for t, g in enumerate(GRADIENTS, 1):
        if decoupled:
            p = p - lr * decay * p
        else:
            g = g + decay * p
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        p = p - lr * m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t)) + eps)
        yield p


def rmsprop(p, lr=0.1, alpha=0.9, eps=1e-6):
    v = 0
    for g in GRADIENTS:
        v = alpha * v + (1 - alpha) * g * g
        p = p - lr * g / (np.sqrt(v) + eps)
        yield p


def lion(p, lr=0.1, beta1=0.9, beta2=0.8, decay=0.1):
    m = 0
    for g in GRADIENTS:
        p = p - lr * (np.sign(beta1 * m + (1 - beta1) * g) + decay * p)
        m = beta2 * m + (1 - beta2) * g
        yield p


METHODS = {
    "sgd": (lambda p: optim.SGD([p], 0.1, 0.9, weight_decay=0.01, nesterov=True), sgd(START)),
    "adam": (lambda p: optim.Adam([p], 0.1, betas=(0.8, 0.9), eps=1e-6, weight_decay=0.1), adam(START, decay=0.1)),
    "adamw": (
        lambda p: optim.AdamW([p], lr=0.1, betas=(0.8, 0.9), eps=1e-6, weight_decay=0.1),
        adam(START, decay=0.1, decoupled=True),
    ),
    "rmsprop": (lambda p: optim.RMSprop([p], lr=0.1, alpha=0.9, eps=1e-6), rmsprop(START)),
    "lion": (lambda p: optim.Lion([p], lr=0.1, betas=(0.9, 0.8), weight_decay=0.1), lion(START)),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    make, expected = METHODS[name]
    p = parameter(START)
    for value, wanted in zip(run(make(p), p, GRADIENTS), expected, strict=True):
        assert_close(value, wanted)


def test_maximize_and_closure():
    p = parameter([1.0])
    optimizer = optim.SGD([p], lr=0.5, maximize=True)

    def closure():
        optimizer.zero_grad()
        loss = crisol.sum(p * p)
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 1
    assert_close(p, [2])
    assert optimizer.step is not None and optimizer.zero_grad(set_to_none=True) is None and p.grad is None


def test_groups():
    body, head = nn.Linear(2, 2), nn.Linear(2, 1)
    optimizer = optim.SGD(
        [{"params": body.parameters()}, {"params": head.parameters(), "lr": 0.5, "momentum": 0.1}], lr=0.1, momentum=0.9
    )
    assert [g["lr"] for g in optimizer.param_groups] == [0.1, 0.5]
    assert [g["momentum"] for g in optimizer.param_groups] == [0.9, 0.1]
    assert [p.shape for p in optimizer.param_groups[1]["params"]] == [(1, 2), (1,)]
    for group in optimizer.param_groups:
        group["lr"] = 0.25
    assert optimizer.param_groups[0]["lr"] == optimizer.param_groups[1]["lr"] == 0.25
    assert "lr" in optimizer.param_groups[0] and "lr" in repr(optimizer.param_groups[0])
    appended = nn.Parameter(crisol.ones(2))
    optimizer.param_groups.append({"params": [appended], "lr": 0.5, "momentum": 0.0, "note": "mine"})
    appended.sum().backward()
    optimizer.step()
    assert_close(appended, [0.5, 0.5])
    assert len(optimizer.param_groups) == 3 and optimizer.param_groups[2]["note"] == "mine"
    extra = nn.Linear(1, 1)
    optimizer.add_param_group({"params": extra.parameters(), "weight_decay": 0.5})
    assert len(optimizer.param_groups) == 4 and dict(optimizer.param_groups[3])["weight_decay"] == 0.5
    optimizer.param_groups[3].update(lr=0.75, nesterov=False)
    assert optimizer.param_groups[3]["lr"] == 0.75
    adam = optim.Adam(nn.Linear(1, 1).parameters())
    adam.param_groups[0]["betas"] = (0.5, 0.6)
    assert adam.param_groups[0]["betas"] == (0.5, 0.6)


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adagrad])
def test_groups_keep_entries_of_programs(kind):
    p, q, r = (nn.Parameter(crisol.zeros(2)) for _ in range(3))
    optimizer = kind([{"params": [p], "name": "head", "lr_scale": 0.5}, {"params": [q]}], lr=0.1)
    optimizer.add_param_group({"params": [r], "name": "late"})
    first, second, third = optimizer.param_groups
    assert (first["name"], first["lr_scale"], third["name"]) == ("head", 0.5, "late") and "name" not in second
    second["note"] = [1, 2]
    assert optimizer.param_groups[1].pop("note") == [1, 2] and "note" not in second
    assert second.setdefault("depth", 3) == 3
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * group.get("lr_scale", 1.0)
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([0.05, 0.1, 0.1])

    state = optimizer.state_dict()
    assert state["param_groups"][0]["name"] == "head"
    loaded = kind([{"params": [nn.Parameter(crisol.zeros(2))]} for _ in range(3)], lr=1.0)
    loaded.load_state_dict(state)
    assert loaded.param_groups[1]["depth"] == 3 and loaded.param_groups[0]["lr"] == pytest.approx(0.05)
    assert copy.deepcopy(optimizer).param_groups[2]["name"] == "late"
    with pytest.raises(TypeError, match="'lr' of a group cannot be removed"):
        del first["lr"]


def stepped(optimizer, *parameters):
    for p in parameters:
        p.grad = crisol.ones(1)
    optimizer.step()
    return [round(p.item(), 4) for p in parameters]


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adagrad])
def test_parameters_of_a_group_change(kind):
    """Each list of a group is the optimiser's, as in PyTorch."""
    p, q, r = (nn.Parameter(crisol.zeros(1)) for _ in range(3))
    optimizer = kind([{"params": [p], "name": "first"}], lr=0.5)
    group = optimizer.param_groups[0]
    params = group["params"]
    params.append(q)
    assert stepped(optimizer, p, q, r) == [-0.5, -0.5, 0.0]
    assert len(group["params"]) == 2 and group["name"] == "first" and optimizer.param_groups[0]["params"][1] is q
    group["params"] += [r]
    group["params"].pop(0)
    before = p.item()
    assert stepped(optimizer, p, q, r)[2] == -0.5 and p.item() == before
    optimizer.zero_grad()
    assert r.grad is None and p.grad is not None
    group["params"] = [p]
    assert [len(g["params"]) for g in optimizer.param_groups] == [1] and group["params"][0] is p
    with pytest.raises(crisol.InvalidArgumentError, match="group 0 too"):
        optimizer.param_groups.append({"params": [p]})
    wrong = group["params"]
    with pytest.raises(TypeError, match="not a int"):
        wrong.append(5)
    assert len(wrong) == 1 and len(group["params"]) == 1


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adagrad])
def test_groups_are_removed_and_replaced(kind):
    p, q, r = (nn.Parameter(crisol.zeros(1)) for _ in range(3))
    optimizer = kind([{"params": [p], "lr": 0.1}, {"params": [q], "name": "q"}], lr=0.5)
    first, second = optimizer.param_groups
    del optimizer.param_groups[0]
    assert stepped(optimizer, p, q) == [0.0, -0.5] and second["name"] == "q" and second["lr"] == 0.5
    with pytest.raises(ValueError, match="no longer one of the optimiser's groups"):
        first["lr"]
    optimizer.param_groups = [{"params": [r], "lr": 0.25}, optimizer.param_groups[0]]
    assert [g["lr"] for g in optimizer.param_groups] == [0.25, 0.5] and second["name"] == "q"
    assert stepped(optimizer, r) == [-0.25]
    optimizer.param_groups.clear()
    optimizer.add_param_group({"params": [p]})
    assert len(optimizer.param_groups) == 1 and optimizer.param_groups[0]["lr"] == 0.5


def test_states_are_kept_reset_and_replaced():
    p, q = (nn.Parameter(crisol.zeros(1)) for _ in range(2))
    optimizer = optim.Adam([p], lr=0.5)
    stepped(optimizer, p)
    optimizer.param_groups[0]["params"].insert(0, q)
    assert optimizer.state[p]["step"] == 1 and not optimizer.state[q] and len(optimizer.state) == 1
    stepped(optimizer, p, q)
    assert optimizer.state[p]["step"] == 2 and optimizer.state[q]["step"] == 1
    optimizer.state[q] = {}
    del optimizer.state[p]
    assert not optimizer.state
    stepped(optimizer, p)
    assert optimizer.state[p]["exp_avg"].item() == pytest.approx(0.1)
    optimizer.state[p] = {"step": 4, "exp_avg": crisol.full((1,), 2.0), "exp_avg_sq": crisol.ones(1)}
    assert optimizer.state[p]["step"] == 4 and optimizer.state[p]["exp_avg"].item() == 2
    optimizer.state.clear()
    assert len(optimizer.state) == 0
    stepped(optimizer, p)
    optimizer.state = {}
    assert len(optimizer.state) == 0
    with pytest.raises(TypeError):
        optimizer.defaults["lr"] = 3.0


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adagrad])
def test_groups_have_the_initial_rate_of_schedules(kind):
    p = nn.Parameter(crisol.zeros(2))
    optimizer = kind([p], lr=0.5)
    assert "initial_lr" not in optimizer.param_groups[0]
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    p.grad = crisol.ones(2)
    optimizer.step()
    schedule.step()
    assert (optimizer.param_groups[0]["initial_lr"], optimizer.param_groups[0]["lr"]) == (0.5, 0.25)
    resumed = kind([{"params": [p], "initial_lr": 0.8}], lr=0.1)
    schedule = optim.lr_scheduler.LambdaLR(resumed, lambda step: 0.5**step, last_epoch=1)
    assert schedule.get_last_lr() == pytest.approx([0.8 * 0.25])


def test_momentum_that_comes_later():
    """The values are PyTorch's."""
    p = nn.Parameter(crisol.zeros(1))
    optimizer = optim.SGD([p], lr=0.5)
    schedule = optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.5, max_lr=1.0, step_size_up=2)
    assert optimizer.param_groups[0]["momentum"] == pytest.approx(0.9)
    seen = []
    for _ in range(3):
        p.grad = crisol.ones(1)
        optimizer.step()
        schedule.step()
        seen.append(p.item())
    assert seen == pytest.approx([-0.5, -1.8875, -4.3675])

    adam = optim.Adam([p], lr=0.1)
    p.grad = crisol.ones(1)
    adam.step()
    adam.param_groups[0]["amsgrad"] = True
    adam.step()
    assert "max_exp_avg_sq" in adam.state[p]


def test_errors():
    layer = nn.Linear(2, 2)
    with pytest.raises(crisol.InvalidArgumentError, match="no setting amsgrad"):
        optim.SGD([{"params": layer.parameters(), "amsgrad": True}])
    with pytest.raises(TypeError, match="tensors or dicts"):
        optim.SGD([{"params": []}, layer.weight])
    with pytest.raises(crisol.InvalidArgumentError):
        optim.SGD(layer.parameters(), lr=-1)
    with pytest.raises(crisol.InvalidArgumentError):
        optim.SGD([])
    optimizer = optim.SGD(layer.parameters())
    with pytest.raises(TypeError):
        del optimizer.param_groups[0]["lr"]
    with pytest.raises(TypeError):
        optim.SGD([1, 2])


def test_state_continues_with_the_same_bits(tmp_path):
    def train(net, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            crisol.mean(crisol.square(net(x) - 1)).backward()
            optimizer.step()

    x = crisol.randn((4, 3))
    net = nn.Linear(3, 2)
    optimizer = optim.Adam(net.parameters(), lr=0.05)
    train(net, optimizer, 3)
    crisol.save(net.state_dict(), tmp_path / "net.safetensors")
    crisol.save(optimizer.state_dict(), tmp_path / "optimizer.safetensors")
    train(net, optimizer, 3)
    other = nn.Linear(3, 2)
    other.load_state_dict(crisol.load(tmp_path / "net.safetensors"))
    again = optim.Adam(other.parameters(), lr=1.0)
    again.load_state_dict(crisol.load(tmp_path / "optimizer.safetensors"))
    assert again.param_groups[0]["lr"] == 0.05
    train(other, again, 3)
    assert (array_of(net.weight) == array_of(other.weight)).all()
    with pytest.raises(crisol.InvalidArgumentError):
        again.load_state_dict({"a": x})


def test_clipping():
    layer = nn.Linear(2, 1, bias=False)
    optim.SGD(layer.parameters())
    crisol.sum(layer(tensor([[3, 4]]))).backward()
    norm = nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    assert norm.item() == pytest.approx(5)
    assert_close(layer.weight.grad, [[0.6, 0.8]])
    nn.utils.clip_grad_value_(layer.weight, 0.7)
    assert_close(layer.weight.grad, [[0.6, 0.7]])


def test_average():
    p = parameter([1.0])
    ema = optim.EMA([p], decay=0.5)
    ema.update()
    with crisol.no_grad():
        p.fill_(3)
    ema.update()
    assert_close(ema.averages()[0], [2])
    ema.apply()
    assert_close(p, [2])
    ema.restore()
    assert_close(p, [3])
    state = {name: value.clone() for name, value in ema.state_dict().items()}
    ema.update()
    ema.load_state_dict(state)
    assert_close(ema.averages()[0], [2])
    with pytest.raises(crisol.InvalidArgumentError):
        ema.restore()


def test_a_newer_optimiser_takes_parameters_over():
    net = nn.Linear(2, 1)
    for _ in range(2):  # As when a cell of a notebook runs again.
        optimizer = optim.Adam(net.parameters(), 0.1)
        net(crisol.ones(1, 2)).sum().backward()
        optimizer.step()
    older, newer = optimizer, optim.SGD([net.bias], 0.5)
    before, bias = net.weight.tolist(), net.bias.item()
    with pytest.raises(ValueError, match="made later, SGD"):
        older.step()
    newer.step()
    assert net.weight.tolist() == before and net.bias.item() != bias


def test_states_and_defaults():
    layer = nn.Linear(2, 3)
    frozen = nn.Parameter(crisol.ones((2,)), requires_grad=False)
    adam = optim.Adam([*layer.parameters(), frozen], lr=0.1, betas=(0.8, 0.9), amsgrad=True)
    assert adam.defaults["lr"] == 0.1 and adam.defaults["betas"] == (0.8, 0.9) and adam.defaults["amsgrad"] is True
    assert len(adam.state) == 0 and dict(adam.state[layer.weight]) == {}
    crisol.sum(layer(crisol.ones((1, 2)))).backward()
    adam.step()
    state = adam.state[layer.weight]
    assert set(state) == {"step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"}
    assert state["step"].item() == 1 and state["exp_avg"].shape == (3, 2)
    assert np.allclose(state["exp_avg"], 0.2 * array_of(layer.weight.grad))
    assert len(adam.state) == 2 and dict(adam.state[frozen]) == {}
    state["exp_avg"].zero_()
    adam.state[layer.bias]["exp_avg"] = crisol.full((3,), 7.0)
    assert not array_of(adam.state[layer.weight]["exp_avg"]).any()
    assert adam.state_dict()["state"][1]["exp_avg"].tolist() == [7, 7, 7]
    with pytest.raises(KeyError, match="exp_avg"):
        state["velocity"] = 1
    with pytest.raises(KeyError):
        adam.state[crisol.ones((3,))]
    sgd = optim.SGD(layer.parameters(), 0.1, momentum=0.9)
    crisol.sum(layer(crisol.ones((1, 2)))).backward()
    sgd.step()
    assert "momentum_buffer" in sgd.state[layer.weight] and sgd.defaults["nesterov"] is False
    for name in ("AdamW", "RMSprop", "Lion"):
        assert getattr(optim, name)(nn.Linear(1, 1).parameters(), lr=0.25).defaults["lr"] == 0.25


def test_clip_grad_norm():
    p = nn.Parameter(crisol.ones((3,)))
    clip = nn.utils.clip_grad_norm_

    def start(values):
        p.grad = crisol.asarray(array_of(values, np.float32))

    start([3, -4, 0])
    assert clip(p, float("inf")).item() == 5 and p.grad.tolist() == [3, -4, 0]
    assert clip([p], 2.0, norm_type=float("inf")).item() == 4
    assert np.allclose(p.grad, [1.5, -2, 0], rtol=1e-5)
    start([3, -4, 0])
    assert clip(p, 3.5, 1).item() == 7 and np.allclose(p.grad, [1.5, -2, 0], rtol=1e-5)
    start([np.inf, 1, 0])
    with pytest.raises(crisol.InvalidArgumentError, match="nonfinite"):
        clip(p, 1.0, error_if_nonfinite=True)
    assert p.grad.tolist() == [np.inf, 1, 0]


def test_networks_of_float64():
    crisol.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
    net = nn.Sequential(net, nn.Linear(12, 2), nn.Dropout(0.0)).double()
    assert all(p.dtype is crisol.float64 for p in net.parameters())
    x, y = crisol.randn(5, 1, 4, 4).double(), crisol.asarray([0, 1, 0, 1, 1])
    optimizer = optim.AdamW(net.parameters(), lr=0.05)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert loss.dtype is crisol.float64 and losses[-1] < 0.5 * losses[0]
    w = nn.Parameter(crisol.asarray([1 / 3, 2 / 3], dtype=crisol.float64))
    method = optim.SGD([w], lr=0.1, momentum=0.9)
    for _ in range(2):
        method.zero_grad()
        (w * w).sum().backward()
        method.step()
    expected, b = np.array([1 / 3, 2 / 3]), 0.0
    for _ in range(2):
        b = 0.9 * b + 2 * expected
        expected = expected - 0.1 * b
    np.testing.assert_allclose(w.numpy(force=True), expected, rtol=1e-15)
    lstm, attention = nn.LSTM(3, 4).double(), nn.MultiheadAttention(4, 2).double()
    out = lstm(crisol.randn(5, 2, 3).double())[0]
    assert attention(out, out, out)[0].dtype is crisol.float64
    convolved = crisol.autograd.gradcheck(
        lambda a, b: nn.functional.conv2d(a, b, stride=2).tanh(),
        [crisol.randn(1, 2, 5, 5).double().requires_grad_(), crisol.randn(2, 2, 3, 3).double().requires_grad_()],
    )
    assert convolved
