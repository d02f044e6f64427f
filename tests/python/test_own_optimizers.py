"""Optimisers that derive from crisol.optim.Optimizer."""

import pickle

import crisol
import pytest
from crisol import nn, optim
from crisol.optim import lr_scheduler
from numeric import array_of, assert_close


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
    return [array_of(p) for p in net.parameters()]


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
