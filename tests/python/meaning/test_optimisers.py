"""LBFGS, Adafactor and Muon, averages of models, schedules that chain, and arguments without effect. The numbers are
those of PyTorch."""

import crisol
import numpy as np
import pytest
from crisol import nn, optim
from crisol.optim import lr_scheduler
from crisol.optim.swa_utils import (
    SWALR,
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    update_bn,
)
from numeric import array_of, assert_close

W = np.array([[0.5, -1.0], [2.0, 0.25], [1.5, -0.5]], np.float32)
A = np.array([[3.0, 1.0], [0.25, 2.0], [1.0, 0.5]], np.float32)


def run(make, steps=3):
    p = nn.Parameter(crisol.asarray(W))
    optimizer = make([p])

    def closure():
        optimizer.zero_grad()
        loss = (p * p * crisol.asarray(A) / 2 + (p**4) / 20).sum()
        loss.backward()
        return loss

    for _ in range(steps):
        loss = optimizer.step(closure)
    assert isinstance(loss, crisol.Tensor)
    return array_of(p.detach()), optimizer


CASES = {
    "lbfgs": (
        lambda p: optim.LBFGS(p, lr=0.5, max_iter=3), 3,
        [[0.03549, -0.04411], [0.56232, 0.00853], [0.09425, -0.0513]],
    ),
    "lbfgs with a short history": (
        lambda p: optim.LBFGS(p, lr=0.3, max_iter=4, history_size=2), 3,
        [[0.01834, -0.02048], [0.26378, 0.00493], [0.04014, -0.00074]],
    ),
    "lbfgs with a line search": (
        lambda p: optim.LBFGS(p, max_iter=3, line_search_fn="strong_wolfe"), 2,
        [[-0.08447, 0.01873], [0.37502, -0.0172], [-0.00611, -0.01572]],
    ),
    "adafactor": (
        lambda p: optim.Adafactor(p, lr=0.1, weight_decay=0.01), 3,
        [[0.25991, -0.51777], [1.68972, 0.08539], [1.18358, -0.3897]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rules(name):
    make, steps, wanted = CASES[name]
    found, _ = run(make, steps)
    np.testing.assert_allclose(found, wanted, atol=2e-4)


def test_muon():
    # PyTorch multiplies in bfloat16 here.
    found, _ = run(lambda p: optim.Muon(p, lr=0.1))
    np.testing.assert_allclose(found, [[0.39718, -0.64685], [1.74593, 0.02381], [1.27829, -0.47237]], atol=5e-3)


def test_a_state_continues(tmp_path):
    for make in (lambda p: optim.LBFGS(p, lr=0.3, max_iter=4), lambda p: optim.Adafactor(p, lr=0.1)):
        p = nn.Parameter(crisol.asarray(W))
        first = make([p])

        def step(q, optimizer):
            def closure():
                optimizer.zero_grad()
                loss = (q * q * crisol.asarray(A)).sum()
                loss.backward()
                return loss

            optimizer.step(closure)

        step(p, first)
        crisol.save(first.state_dict(), tmp_path / "state.safetensors")
        q = nn.Parameter(p.detach().clone())
        second = make([q])
        second.load_state_dict(crisol.load(tmp_path / "state.safetensors"))
        step(p, first)
        step(q, second)
        assert_close(p.detach(), q.detach())


def test_refusals():
    p = [nn.Parameter(crisol.ones((2,)))]
    with pytest.raises(crisol.InvalidArgumentError, match="no sparse gradients"):
        optim.SparseAdam(p)
    with pytest.raises(crisol.InvalidArgumentError, match="takes matrices"):
        optim.Muon(p)
    with pytest.raises(crisol.InvalidArgumentError, match="line_search_fn"):
        optim.LBFGS(p, line_search_fn="armijo")
    with pytest.raises(TypeError, match="closure"):
        optim.LBFGS(p).step()
    with pytest.raises(crisol.InvalidArgumentError, match="one group"):
        optim.LBFGS([{"params": p}, {"params": [nn.Parameter(crisol.ones((2,)))]}])
    with pytest.raises(ValueError, match="differentiable"):
        optim.Adam(p, differentiable=True)


def test_arguments_without_effect():
    def made(cls, **named):
        return run(lambda p: cls(p, lr=0.05, **named))[0]

    for cls, named in (
        (optim.SGD, {"foreach": True, "fused": False}),
        (optim.Adam, {"foreach": False, "fused": True, "capturable": True}),
        (optim.AdamW, {"fused": True}),
        (optim.RMSprop, {"foreach": True, "capturable": False}),
        (optim.Adagrad, {"fused": True}),
        (optim.Adamax, {"capturable": True}),
        (optim.NAdam, {"foreach": True}),
    ):
        assert_close(made(cls, **named), made(cls))
    group = optim.Adam([{"params": [nn.Parameter(crisol.ones((2,)))], "fused": True, "lr": 0.5}]).param_groups[0]
    assert group["lr"] == 0.5
    assert optim.Adagrad([nn.Parameter(crisol.ones((2,)))], lr=crisol.asarray(0.5)).param_groups[0]["lr"] == 0.5


def rates(make, steps):
    optimizer = optim.SGD([nn.Parameter(crisol.ones((1,)))], lr=0.1, momentum=0.9)
    schedule = make(optimizer)
    found = [optimizer.param_groups[0]["lr"]]
    for _ in range(steps):
        schedule.step()
        found.append(optimizer.param_groups[0]["lr"])
    return found


def begun(optimizer):
    optimizer.param_groups[0]["initial_lr"] = 0.1
    return optimizer


SCHEDULES = {
    "three lines": (
        lambda o: lr_scheduler.OneCycleLR(o, 1.0, total_steps=10, anneal_strategy="linear", three_phase=True),
        [0.04, 0.52, 1.0, 0.52, 0.04, 0.032001, 0.024002, 0.016002, 0.008003, 4e-06],
    ),
    "three cosines": (
        lambda o: lr_scheduler.OneCycleLR(o, 1.0, total_steps=10, three_phase=True, pct_start=0.4),
        [0.04, 0.28, 0.76, 1.0, 0.76, 0.28, 0.04, 0.030001, 0.010003, 4e-06],
    ),
    "two lines": (
        lambda o: lr_scheduler.OneCycleLR(o, 1.0, total_steps=6, anneal_strategy="linear"),
        [0.04, 0.952381, 0.714287, 0.476193, 0.238098, 4e-06],
    ),
    "chained": (
        lambda o: lr_scheduler.ChainedScheduler(
            [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.9)]
        ),
        [0.01, 0.009, 0.081, 0.0729, 0.06561],
    ),
    "swa": (lambda o: SWALR(o, 0.02, anneal_epochs=4), [0.1, 0.088284, 0.06, 0.031716, 0.02, 0.02, 0.02]),
    "swa along a line": (
        lambda o: SWALR(o, 0.02, anneal_epochs=3, anneal_strategy="linear"), [0.1, 0.073333, 0.046667, 0.02, 0.02],
    ),
    "swa at once": (lambda o: SWALR(o, 0.02, anneal_epochs=0), [0.02, 0.02]),
    "last_epoch": (lambda o: lr_scheduler.StepLR(begun(o), 2, 0.1, last_epoch=1), [0.01, 0.01, 0.001]),
    "last_epoch by name": (lambda o: lr_scheduler.LambdaLR(o, lambda n: 0.5**n, last_epoch=-1), [0.1, 0.05, 0.025]),
    "last_epoch of a polynomial": (lambda o: lr_scheduler.PolynomialLR(begun(o), 4, last_epoch=0), [0.1, 0.066667]),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    make, wanted = SCHEDULES[name]
    np.testing.assert_allclose(rates(make, len(wanted) - 1), wanted, atol=2e-6)


def test_a_chain_continues():
    def made(optimizer):
        return lr_scheduler.ChainedScheduler(
            [lr_scheduler.ConstantLR(optimizer, 0.1, 2), lr_scheduler.ExponentialLR(optimizer, 0.9)]
        )

    first = optim.SGD([nn.Parameter(crisol.ones((1,)))], lr=0.1)
    chain = made(first)
    chain.step()
    second = optim.SGD([nn.Parameter(crisol.ones((1,)))], lr=0.1)
    other = made(second)
    other.load_state_dict(chain.state_dict())
    second.load_state_dict(first.state_dict())
    chain.step()
    other.step()
    assert chain.get_last_lr() == pytest.approx(other.get_last_lr())
    with pytest.raises(ValueError, match="anneal_strategy"):
        lr_scheduler.OneCycleLR(first, 1.0, total_steps=4, anneal_strategy="sine")


def test_averages_of_models():
    net = nn.Linear(2, 1)
    mean, ema = AveragedModel(net), AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.5))
    other = AveragedModel(net, avg_fn=get_ema_avg_fn(0.5))
    values = []
    for i in range(3):
        with crisol.no_grad():
            net.weight.copy_(crisol.asarray([[1.0 + i, 2.0 * i]]))
        values.append(array_of(net.weight.detach()))
        for average in (mean, ema, other):
            average.update_parameters(net)
    assert_close(mean.module.weight.detach(), sum(values) / 3)
    wanted = (values[0] * 0.5 + values[1] * 0.5) * 0.5 + values[2] * 0.5
    assert_close(ema.module.weight.detach(), wanted)
    assert_close(other.module.weight.detach(), wanted)
    assert int(mean.n_averaged) == 3 and "module.weight" in mean.state_dict()
    x = crisol.ones((1, 2))
    assert_close(mean(x), mean.module(x))


@pytest.mark.parametrize("momentum", [0.1, None])
def test_update_bn(momentum):
    x = np.random.default_rng(0).normal(2, 3, (3, 8, 4)).astype(np.float32)
    net = nn.Sequential(nn.BatchNorm1d(4, momentum=momentum))
    net.eval()
    update_bn([crisol.asarray(part) for part in x], net)
    assert_close(net[0].running_mean, x.mean(axis=1).mean(axis=0))
    assert_close(net[0].running_var, x.var(axis=1, ddof=1).mean(axis=0))
    assert not net.training and int(net[0].num_batches_tracked) == 3
