"""crisol.optim.lr_scheduler: rates against formulas."""

import math

import crisol
import numpy as np
import pytest
from crisol import nn, optim
from crisol.optim import lr_scheduler
from numeric import parameter

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
