"""The optimisers that are written in Python, initial values, and helpers of nn.utils."""

import math

import crisol
import numpy as np
import pytest
from crisol import nn, optim
from numeric import array_of

W = np.array([0.5, -1.0, 2.0], np.float64)
A = np.array([3.0, 1.0, 0.25])


def run(optimizer, steps=4):
    p = nn.Parameter(crisol.asarray(W.astype(np.float32)))
    made = optimizer([p])
    for _ in range(steps):
        made.zero_grad()
        (p * p * crisol.asarray(A.astype(np.float32)) / 2).sum().backward()
        made.step()
    return array_of(p.detach()), made


def adagrad(w, g, s, t):
    s["sum"] = s.get("sum", 0) + g * g
    return w - 0.1 / (1 + (t - 1) * 0.5) * g / (np.sqrt(s["sum"]) + 1e-10)


def adadelta(w, g, s, t):
    s["sq"] = 0.9 * s.get("sq", 0) + 0.1 * g * g
    delta = np.sqrt(s.get("acc", 0) + 1e-3) / np.sqrt(s["sq"] + 1e-3) * g
    s["acc"] = 0.9 * s.get("acc", 0) + 0.1 * delta * delta
    return w - 0.5 * delta


def adamax(w, g, s, t):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["u"] = np.maximum(0.999 * s.get("u", 0), np.abs(g) + 1e-8)
    return w - 0.1 / (1 - 0.9**t) * s["m"] / s["u"]


def nadam(w, g, s, t):
    mu, following = (0.9 * (1 - 0.5 * 0.96 ** (n * 4e-3)) for n in (t, t + 1))
    s["product"] = s.get("product", 1) * mu
    s["m"], s["v"] = 0.9 * s.get("m", 0) + 0.1 * g, 0.999 * s.get("v", 0) + 0.001 * g * g
    below = np.sqrt(s["v"] / (1 - 0.999**t)) + 1e-8
    w = w - 0.1 * (1 - mu) / (1 - s["product"]) * g / below
    return w - 0.1 * following / (1 - s["product"] * following) * s["m"] / below


def radam(w, g, s, t):
    s["m"], s["v"] = 0.9 * s.get("m", 0) + 0.1 * g, 0.9 * s.get("v", 0) + 0.1 * g * g
    m, most = s["m"] / (1 - 0.9**t), 2 / 0.1 - 1
    length = most - 2 * t * 0.9**t / (1 - 0.9**t)
    if length <= 5:
        return w - 0.1 * m
    over = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
    return w - 0.1 * m * math.sqrt(over) * math.sqrt(1 - 0.9**t) / (np.sqrt(s["v"]) + 1e-8)


def asgd(w, g, s, t):
    eta = s.get("eta", 0.1)
    s["eta"] = 0.1 / (1 + 0.01 * 0.1 * t) ** 0.75
    return w * (1 - 0.01 * eta) - eta * g


def rprop(w, g, s, t):
    sign = np.sign(g * s.get("before", 0))
    s["size"] = np.clip(s.get("size", 0.3) * np.where(sign > 0, 1.2, np.where(sign < 0, 0.5, 1)), 1e-6, 50)
    g = np.where(sign < 0, 0, g)
    s["before"] = g
    return w - np.sign(g) * s["size"]


RULES = {
    "Adagrad": (lambda p: optim.Adagrad(p, 0.1, lr_decay=0.5), adagrad),
    "Adadelta": (lambda p: optim.Adadelta(p, 0.5, eps=1e-3), adadelta),
    "Adamax": (lambda p: optim.Adamax(p, 0.1), adamax),
    "NAdam": (lambda p: optim.NAdam(p, 0.1), nadam),
    "RAdam": (lambda p: optim.RAdam(p, 0.1, betas=(0.9, 0.9)), radam),
    "ASGD": (lambda p: optim.ASGD(p, 0.1, lambd=0.01), asgd),
    "Rprop": (lambda p: optim.Rprop(p, 0.3), rprop),
}


@pytest.mark.parametrize("name", RULES)
def test_rules(name):
    make, rule = RULES[name]
    w, state = W, {}
    for t in range(1, 13):
        w = rule(w, A * w, state, t)
    np.testing.assert_allclose(run(make, 12)[0], w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", RULES)
def test_rules_of_float64(name):
    make, rule = RULES[name]
    w, state, p = W, {}, nn.Parameter(crisol.asarray(W))
    optimizer = make([p])
    for t in range(1, 13):
        w = rule(w, A * w, state, t)
        p.grad = p.detach() * crisol.asarray(A)
        optimizer.step()
    np.testing.assert_allclose(array_of(p.detach()), w, rtol=1e-11, atol=1e-13)


def test_states_go_on():
    found, made = run(RULES["NAdam"][0])
    state = made.state_dict()
    p = nn.Parameter(crisol.asarray(found))
    other = RULES["NAdam"][0]([p])
    other.load_state_dict(state)
    for optimizer, parameter in ((made, made.param_groups[0]["params"][0]), (other, p)):
        parameter.grad = crisol.ones(3)
        optimizer.step()
    np.testing.assert_array_equal(array_of(p.detach()), array_of(made.param_groups[0]["params"][0].detach()))
    with pytest.raises(ValueError, match=r"\[Adagrad\] lr is -1"):
        optim.Adagrad([p], -1)


def triangle(t, up, down):
    place = t % (up + down)
    return place / up if place <= up else (up + down - place) / down


@pytest.mark.parametrize(
    "make, rate",
    [
        (lambda o: optim.lr_scheduler.PolynomialLR(o, 4, 2.0), lambda t: 0.1 * max(1 - t / 4, 0) ** 2),
        (
            lambda o: optim.lr_scheduler.MultiplicativeLR(o, lambda t: 0.5 + 0.1 * t),
            lambda t: 0.1 * math.prod(0.5 + 0.1 * i for i in range(1, t + 1)),
        ),
        (
            lambda o: optim.lr_scheduler.CyclicLR(o, 0.01, 0.05, 2, 3, mode="triangular2"),
            lambda t: 0.01 + 0.04 * triangle(t, 2, 3) / 2 ** (t // 5),
        ),
    ],
)
def test_schedules(make, rate):
    p = nn.Parameter(crisol.ones(2))
    optimizer = optim.SGD([p], 0.1, momentum=0.9)
    schedule = make(optimizer)
    for t in range(9):
        assert abs(optimizer.param_groups[0]["lr"] - rate(t)) < 1e-9
        p.grad = crisol.ones(2)
        optimizer.step()
        schedule.step()


def test_factors_multiply_a_rate_that_was_set_by_hand():
    optimizer = optim.SGD([nn.Parameter(crisol.ones(2))], 0.1)
    schedule = optim.lr_scheduler.MultiplicativeLR(optimizer, lambda t: 0.5)
    schedule.step()
    optimizer.param_groups[0]["lr"] = 0.8
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.4)
    assert schedule.get_last_lr() == pytest.approx([0.4])


def test_a_cycle_turns_the_momentum():
    optimizer = optim.SGD([nn.Parameter(crisol.ones(2))], 0.1, momentum=0.5)
    schedule = optim.lr_scheduler.CyclicLR(optimizer, 0.01, 0.1, 2)
    found = []
    for _ in range(4):
        found.append(optimizer.param_groups[0]["momentum"])
        schedule.step()
    assert found == pytest.approx([0.9, 0.85, 0.8, 0.85])
    with pytest.raises(ValueError, match="mode is 'square'"):
        optim.lr_scheduler.CyclicLR(optimizer, 0.01, 0.1, mode="square")


def test_initial_values():
    x = nn.init.trunc_normal_(crisol.empty(4000), std=0.5, a=-0.6, b=0.8)
    assert -0.6 <= x.min().item() and x.max().item() <= 0.8 and abs(x.mean().item() - 0.045) < 0.03
    q = nn.init.orthogonal_(crisol.empty(3, 2, 2), gain=2.0).reshape(3, 4)
    np.testing.assert_allclose(array_of(q @ q.T), 4 * np.eye(3), atol=1e-5)
    assert nn.init.eye_(crisol.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    weight = nn.init.dirac_(crisol.empty(4, 2, 3), groups=2)
    assert weight.sum().item() == 4 and weight[2, 0, 1].item() == 1
    assert (nn.init.sparse_(crisol.empty(10, 3), 0.3) == 0).sum(0).tolist() == [3, 3, 3]
    with pytest.warns(FutureWarning, match="old name"):
        nn.init.uniform(crisol.empty(2))


def test_parameters_as_a_line():
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    line = nn.utils.parameters_to_vector(net.parameters())
    nn.utils.vector_to_parameters(line * 0 + 1, net.parameters())
    assert line.shape == (13,) and net[0].weight.sum().item() == 6
    total = nn.utils.get_total_norm(list(net.parameters()))
    assert abs(total.item() - math.sqrt(13)) < 1e-5


def test_bools_are_combined():
    x, index = crisol.tensor([True, False, False]), crisol.tensor([1, 1, 2])
    source = crisol.tensor([True, True, False])
    assert x.scatter_add(0, index, source).tolist() == [True, True, False]
    assert x.index_add(0, index, source).tolist() == [True, True, False]
    assert x.put(index, source, accumulate=True).tolist() == [True, True, False]
    assert x.index_put([index], source, accumulate=True).tolist() == [True, True, False]
    assert x.scatter(0, index, source, reduce="add").tolist() == [True, True, False]
    for name, expected in (("sum", [True, True, False]), ("prod", [True, False, False]), ("amax", [True, True, False])):
        found = x.scatter_reduce(0, index, source, name)
        assert found.dtype == crisol.bool and found.tolist() == expected
    assert x.scatter(0, index, source).tolist() == [True, True, False]
