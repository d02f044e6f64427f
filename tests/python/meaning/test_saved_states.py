"""The states of optimisers in PyTorch's form, and nested values in files."""

import pickle

import crisol
import numpy as np
import pytest
from crisol import nn, optim
from numeric import array_of

RULES = {
    "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "plain sgd": lambda p: optim.SGD(p, lr=0.1),
    "adam": lambda p: optim.Adam(p, lr=0.01, amsgrad=True),
    "adamw": lambda p: optim.AdamW(p, lr=0.01, betas=(0.7, 0.8)),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.01, centered=True, momentum=0.5),
    "lion": lambda p: optim.Lion(p, lr=0.01),
    "adagrad": lambda p: optim.Adagrad(p, lr=0.1),
    "nadam": lambda p: optim.NAdam(p, lr=0.01),
    "rprop": lambda p: optim.Rprop(p, lr=0.01),
}
X = np.arange(12, dtype=np.float32).reshape(4, 3) / 7 - 0.8


def net_and_optimizer(name):
    crisol.manual_seed(3)
    net = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))
    groups = [{"params": net[0].parameters()}, {"params": net[2].parameters(), "lr": 0.02}]
    return net, RULES[name](groups)


def train(net, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        (net(crisol.asarray(X)) - 1).square().mean().backward()
        optimizer.step()
    return [array_of(p.detach()).copy() for p in net.parameters()]


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("way", ["dict", "file", "pickle", "checkpoint"])
def test_training_continues_with_the_same_bits(name, way, tmp_path):
    net, optimizer = net_and_optimizer(name)
    train(net, optimizer, 3)
    saved = {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "best": [0.1, None, "text"]}
    groups = saved["optimizer"]["param_groups"]
    assert [group["params"] for group in groups] == [[0, 1], [2, 3]] and groups[1]["lr"] == 0.02
    other, again = net_and_optimizer(name)
    again.param_groups[0]["lr"] = 0.5
    if way == "file":
        crisol.save(saved, tmp_path / "all.safetensors")
        saved = crisol.load(tmp_path / "all.safetensors")
        assert saved["epoch"] == 3 and saved["best"] == [0.1, None, "text"]
    elif way == "pickle":
        saved = pickle.loads(pickle.dumps(saved))
    elif way == "checkpoint":
        crisol.save_checkpoint(
            tmp_path / "step", crisol.Checkpoint(model=saved["model"], optimizer=saved["optimizer"])
        )
        loaded = crisol.load_checkpoint(tmp_path / "step")
        saved = {"model": loaded.model, "optimizer": loaded.optimizer}
    other.load_state_dict(saved["model"])
    again.load_state_dict(saved["optimizer"])
    assert again.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"]
    for mine, wanted in zip(train(other, again, 3), train(net, optimizer, 3), strict=True):
        np.testing.assert_array_equal(mine, wanted)


def test_form():
    p = nn.Parameter(crisol.ones((2,)))
    adam = optim.Adam([p], lr=0.1)
    assert adam.state_dict()["state"] == {}
    p.sum().backward()
    adam.step()
    state = adam.state_dict()
    assert list(state) == ["state", "param_groups"] and list(state["state"]) == [0]
    assert set(state["state"][0]) == {"step", "exp_avg", "exp_avg_sq"} and state["state"][0]["step"].item() == 1
    assert state["param_groups"][0]["betas"] == (0.9, 0.999) and state["param_groups"][0]["params"] == [0]
    # A state of PyTorch: arrays, and SGD without a step.
    sgd = optim.SGD([p], lr=0.1, momentum=0.5)
    state = {"state": {0: {"momentum_buffer": np.array([2.0, 4.0])}}, "param_groups": [{"lr": 0.3, "params": [0]}]}
    sgd.load_state_dict(state)
    before = array_of(p.detach()).copy()
    sgd.step()
    np.testing.assert_allclose(array_of(p.detach()), before - 0.3 * (np.array([1.0, 2.0]) + 1), atol=1e-6)


def test_refusals():
    p = nn.Parameter(crisol.ones((2,)))
    adam = optim.Adam([p], lr=0.1)
    for state, text in (
        ({"state": {}, "param_groups": []}, r"groups have \[\] parameters"),
        ({"state": {}, "param_groups": [{"lr": 0.7, "params": [0, 1]}]}, r"\[2\] parameters"),
        ({"state": {0: {"velocity": crisol.ones((2,))}}, "param_groups": [{"lr": 0.7, "params": [0]}]}, "velocity"),
        ({"state": {0: {"exp_avg": crisol.ones((3,))}}, "param_groups": [{"lr": 0.7, "params": [0]}]}, "exp_avg"),
    ):
        with pytest.raises(crisol.InvalidArgumentError, match=text):
            adam.load_state_dict(state)
        assert adam.param_groups[0]["lr"] == 0.1
    for cls in (optim.Adagrad, optim.Adadelta, optim.Adamax, optim.NAdam, optim.RAdam, optim.ASGD, optim.Rprop):
        with pytest.raises(ValueError, match="differentiable"):
            cls([p], differentiable=True)


def test_versions():
    x = crisol.zeros((3,))
    before = x._version
    x.add_(1)
    x[0] = 2
    y = x[1:]
    y.mul_(2)
    assert x._version >= before + 3 and y._version == x._version
    now = x._version
    x + 1
    assert x._version == now
    parts = (crisol.ones((2, 3)).requires_grad_() * 2).unbind()
    with pytest.raises(crisol.InvalidArgumentError, match="unbind"):
        parts[0].add_(1)
    parts[0].sum().backward()
