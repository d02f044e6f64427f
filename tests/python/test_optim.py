"""crisol.optim: steps against NumPy, groups, states, schedules, clipping, averages."""

import copy
import math
import pickle

import crisol
import numpy as np
import pytest
from crisol import nn, optim
from crisol.optim import lr_scheduler
from numeric import assert_close, tensor


def parameter(values):
    return nn.Parameter(tensor(values))


def give_gradient(p, gradient):
    p.backward(tensor(gradient)) if p.dim() == 0 else crisol.sum(p * tensor(gradient)).backward()


def run(optimizer, p, gradients):
    values = []
    for g in gradients:
        optimizer.zero_grad()
        give_gradient(p, g)
        optimizer.step()
        values.append(np.asarray(p).copy())
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
    assert (np.asarray(net.weight) == np.asarray(other.weight)).all()
    with pytest.raises(crisol.InvalidArgumentError):
        again.load_state_dict({"a": x})


RATES = {
    "step": (lambda o: lr_scheduler.StepLR(o, step_size=2, gamma=0.5), lambda t: 0.5 ** (t // 2)),
    "multi": (lambda o: lr_scheduler.MultiStepLR(o, milestones=[1, 3]), lambda t: 0.1 ** ((t >= 1) + (t >= 3))),
    "exponential": (lambda o: lr_scheduler.ExponentialLR(o, gamma=0.9), lambda t: 0.9**t),
    "constant": (lambda o: lr_scheduler.ConstantLR(o, 0.5, 2), lambda t: 0.5 if t < 2 else 1),
    "linear": (lambda o: lr_scheduler.LinearLR(o, 0.2, total_iters=4), lambda t: 0.2 + 0.8 * min(t / 4, 1)),
    "lambda": (lambda o: lr_scheduler.LambdaLR(o, lambda t: 1 / (t + 1)), lambda t: 1 / (t + 1)),
    "lambdas": (lambda o: lr_scheduler.LambdaLR(o, lr_lambda=[lambda t: 2.0**t]), lambda t: 2.0**t),
    "cosine": (lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=4), lambda t: (1 + math.cos(math.pi * t / 4)) / 2),
    "restarts": (
        lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, T_0=2),
        lambda t: (1 + math.cos(math.pi * (t % 2) / 2)) / 2,
    ),
    "sequence": (
        lambda o: lr_scheduler.SequentialLR(
            o, [lr_scheduler.ConstantLR(o, 0.5, 9), lr_scheduler.ExponentialLR(o, 0.5)], [2]
        ),
        lambda t: 0.5 if t < 2 else 0.5 ** (t - 2),
    ),
}


@pytest.mark.parametrize("name", RATES)
def test_schedules(name):
    make, factor = RATES[name]
    optimizer = optim.SGD([parameter([1.0])], lr=0.4)
    schedule = make(optimizer)
    for t in range(5):
        assert optimizer.param_groups[0]["lr"] == pytest.approx(0.4 * factor(t))
        assert schedule.get_last_lr() == [optimizer.param_groups[0]["lr"]] and schedule.last_epoch == t
        schedule.step()
    state = schedule.state_dict()
    schedule.step()
    schedule.load_state_dict(state)
    assert schedule.last_epoch == 5


def test_one_cycle():
    optimizer = optim.SGD([parameter([1.0])], lr=1, momentum=0.9)
    schedule = lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, epochs=2, steps_per_epoch=5, pct_start=0.4)
    rates, momenta = [], []
    for _ in range(9):
        rates.append(optimizer.param_groups[0]["lr"])
        momenta.append(optimizer.param_groups[0]["momentum"])
        schedule.step()
    assert rates[0] == pytest.approx(0.02) and max(rates) == rates[3] == pytest.approx(0.5)
    assert momenta[0] == 0.95 and min(momenta) == momenta[3] == pytest.approx(0.85)
    with pytest.raises(ValueError, match="total_steps"):
        lr_scheduler.OneCycleLR(optimizer, max_lr=0.5)
    schedule.step()
    with pytest.raises(crisol.InvalidArgumentError):
        schedule.step()


def test_plateau():
    optimizer = optim.SGD([parameter([1.0])], lr=1)
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=1)
    for metric in (1.0, 2.0, 2.0, 2.0):
        schedule.step(metric)
    assert optimizer.param_groups[0]["lr"] == 0.5 and schedule.best == 2 and schedule.get_last_lr() == [0.5]
    with pytest.raises(crisol.InvalidArgumentError):
        lr_scheduler.ReduceLROnPlateau(optimizer, mode="middle")


def test_schedule_keeps_its_optimizer():
    schedule = lr_scheduler.StepLR(optim.SGD([parameter([1.0])], lr=1), 1)
    schedule.step()
    assert schedule.get_last_lr() == [pytest.approx(0.1)]


def test_exception_in_a_lambda():
    optimizer = optim.SGD([parameter([1.0])], lr=1)

    def fails(t):
        if t == 1:
            raise KeyError("mine")
        return 1.0

    schedule = lr_scheduler.LambdaLR(optimizer, fails)
    with pytest.raises(KeyError, match="mine"):
        schedule.step()


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


class OwnSGD(optim.Optimizer):
    """SGD with momentum, as users of PyTorch write it."""

    def __init__(self, params, lr, momentum=0.0, tag="a"):
        super().__init__(params, {"lr": lr, "momentum": momentum, "tag": tag})

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                state["step"] = state.get("step", 0) + 1
                state["share"] = 1 / 3
                b = state.get("buffer")
                state["buffer"] = p.grad.clone() if b is None else b * group["momentum"] + p.grad
                with crisol.no_grad():
                    p -= group["lr"] * state["buffer"]


def own_and_library(lr=0.1, momentum=0.9):
    for make in (OwnSGD, optim.SGD):
        crisol.manual_seed(1)
        net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        yield net, make([{"params": net[0].parameters(), "lr": 2 * lr}, {"params": net[2].parameters()}], lr, momentum)


def train(net, optimizer, steps=3, schedule=None):
    x = crisol.randn((5, 3), generator=crisol.Generator(2))
    for _ in range(steps):
        optimizer.zero_grad()
        crisol.mean(crisol.square(net(x) - 1)).backward()
        optimizer.step()
        if schedule is not None:
            schedule.step()
    return [np.asarray(p) for p in net.parameters()]


def test_own_class_takes_the_steps_of_sgd():
    (net, own), (expected, library) = own_and_library()
    before = [p.tolist() for p in net.parameters()]
    for mine, wanted in zip(train(net, own), train(expected, library), strict=True):
        assert_close(mine, wanted)
    assert [p.tolist() for p in net.parameters()] != before
    assert [own.state[p]["step"] for group in own.param_groups for p in group["params"]] == [3, 3, 3, 3]
    own.zero_grad()
    assert all(p.grad is None for p in net.parameters())


@pytest.mark.parametrize("make", [
    lambda o: lr_scheduler.StepLR(o, 1, gamma=0.5),
    lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.2, total_steps=9),
])
def test_schedules_of_an_own_class(make):
    (net, own), (expected, library) = own_and_library()
    for mine, wanted in zip(
        train(net, own, 4, make(own)), train(expected, library, 4, make(library)), strict=True
    ):
        assert_close(mine, wanted)
    for mine, wanted in zip(own.param_groups, library.param_groups, strict=True):
        assert (mine["lr"], mine["momentum"]) == (wanted["lr"], wanted["momentum"])


def test_groups_of_an_own_class():
    layer, other = nn.Linear(2, 1), nn.Linear(2, 1)
    own = OwnSGD(layer.parameters(), lr=0.1, tag="b")
    assert isinstance(own, optim.Optimizer) and own.defaults == {"lr": 0.1, "momentum": 0.0, "tag": "b"}
    assert own.param_groups[0]["params"][0] is own.param_groups[0]["params"][0]
    other_weight = other.weight
    own.add_param_group({"params": other_weight, "tag": "c", "lr": 0.2})
    first, second = own.param_groups
    assert [first["tag"], second["tag"]] == ["b", "c"] and [first["lr"], second["lr"]] == [0.1, 0.2]
    second["tag"], second["lr"], second["new"] = "d", 0.3, (1, 2)
    settings = dict(own.param_groups[1])
    assert settings.pop("params")[0] is other_weight
    assert settings == {"lr": 0.3, "momentum": 0.0, "tag": "d", "new": (1, 2)}
    with pytest.raises(crisol.InvalidArgumentError, match="cannot be changed"):
        second["params"] = [other.bias]
    with pytest.raises(crisol.InvalidArgumentError, match="group 0 too"):
        own.add_param_group({"params": [layer.weight]})
    assert len(own.param_groups) == 2


@pytest.mark.parametrize("copied", [False, True], ids=["state_dict", "pickle"])
def test_state_of_an_own_class(copied, tmp_path):
    (net, own), _ = own_and_library()
    train(net, own)
    if copied:
        other, again = pickle.loads(pickle.dumps((net, own)))
    else:
        crisol.save(own.state_dict(), tmp_path / "own.safetensors")
        (other, again), _ = own_and_library(0.7, 0.8)
        other.load_state_dict(net.state_dict())
        again.load_state_dict(crisol.load(tmp_path / "own.safetensors"))
    for p in again.param_groups[0]["params"]:
        assert again.state[p]["step"] == 3 and again.state[p]["share"] == 1 / 3
    for mine, wanted in zip(train(other, again), train(net, own), strict=True):
        assert (mine == wanted).all()
    state = own.state_dict()
    state["state"][9] = {}
    with pytest.raises(crisol.InvalidArgumentError, match="9 is no parameter: there are 4"):
        own.load_state_dict(state)


def test_errors_of_an_own_class():
    layer = nn.Linear(2, 1)
    with pytest.raises(TypeError, match="derive a class"):
        optim.Optimizer(layer.parameters(), {"lr": 0.1})

    class WithoutStep(optim.Optimizer):
        pass

    with pytest.raises(ValueError, match='"lr"'):
        WithoutStep(layer.parameters(), {})
    with pytest.raises(TypeError, match="tensors or dicts"):
        WithoutStep([layer.weight, {"params": [layer.bias]}], {"lr": 0.1})
    with pytest.raises(TypeError):
        WithoutStep([1], {"lr": 0.1})
    own = WithoutStep(layer.parameters(), {"lr": 0.1})
    layer(crisol.ones(1, 2)).sum().backward()
    with pytest.raises(crisol.InvalidArgumentError, match=r"\[WithoutStep\] the class defines no step"):
        own.step()


def test_schedules_multiply_the_rate():
    p = nn.Parameter(crisol.ones((1,)))
    optimizer = optim.SGD([p], 0.1)
    first, second = lr_scheduler.ExponentialLR(optimizer, 0.9), lr_scheduler.MultiStepLR(optimizer, [2], 0.1)
    rates = []
    for _ in range(4):
        first.step()
        second.step()
        rates.append(optimizer.param_groups[0]["lr"])
    assert np.allclose(rates, [0.09, 0.0081, 0.00729, 0.006561], rtol=1e-12)
    optimizer = optim.SGD([p], 0.1)
    schedule = lr_scheduler.StepLR(optimizer, 2, 0.5)
    rates = []
    for step in range(5):
        if step == 2:
            optimizer.param_groups[0]["lr"] = 0.8
        schedule.step()
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == [0.1, 0.05, 0.8, 0.4, 0.4]
    schedule.step(4)  # The formula.
    assert np.isclose(optimizer.param_groups[0]["lr"], 0.025) and schedule.last_epoch == 4
    schedule = lr_scheduler.MultiStepLR(optimizer, [1, 1], 0.5)
    schedule.step()
    assert np.isclose(optimizer.param_groups[0]["lr"], 0.025 / 4)


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
    assert np.allclose(state["exp_avg"], 0.2 * np.asarray(layer.weight.grad))
    assert len(adam.state) == 2 and dict(adam.state[frozen]) == {}
    state["exp_avg"].zero_()
    adam.state[layer.bias]["exp_avg"] = crisol.full((3,), 7.0)
    assert not np.asarray(adam.state[layer.weight]["exp_avg"]).any()
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
        p.grad = crisol.asarray(np.asarray(values, np.float32))

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
