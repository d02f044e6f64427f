"""crisol.optim.lr_scheduler: rates against formulas."""

import copy
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
    last = optimizer.param_groups[0]["lr"]
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == last > 0
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


def test_states_have_the_attributes():
    """The names and values are PyTorch's."""
    optimizer = optim.SGD([parameter([1.0])], lr=0.1)
    schedule = lr_scheduler.MultiStepLR(optimizer, [2, 5, 5])
    assert schedule.milestones == {2: 1, 5: 2} and schedule.gamma == 0.1 and schedule.base_lrs == [0.1]
    schedule.gamma = 0.5
    for _ in range(2):
        schedule.step()
    state = schedule.state_dict()
    wanted = {"milestones": {2: 1, 5: 2}, "gamma": 0.5, "last_epoch": 2, "base_lrs": [0.1]}
    wanted |= {"_step_count": 3, "_last_lr": [0.05]}
    assert {name: state[name] for name in wanted} == wanted
    assert "optimizer" not in state
    again = lr_scheduler.MultiStepLR(optim.SGD([parameter([1.0])], lr=0.05), [1])
    again.load_state_dict(state)
    rates = []
    for _ in range(3):
        again.step()
        rates.append(again.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.05, 0.05, 0.0125])


@pytest.mark.parametrize(
    "make, names",
    [
        (lambda o: lr_scheduler.StepLR(o, 3), {"step_size": 3, "gamma": 0.1}),
        (lambda o: lr_scheduler.ConstantLR(o, 0.5), {"factor": 0.5, "total_iters": 5}),
        (lambda o: lr_scheduler.LinearLR(o, 0.5), {"start_factor": 0.5, "end_factor": 1.0, "total_iters": 5}),
        (lambda o: lr_scheduler.PolynomialLR(o, 4, 2.0), {"total_iters": 4, "power": 2.0}),
        (lambda o: lr_scheduler.CosineAnnealingLR(o, 7, 0.01), {"T_max": 7, "eta_min": 0.01}),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 7), {"T_0": 7, "T_i": 7, "T_mult": 1, "T_cur": 0}),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.5, 9), {"total_steps": 9, "cycle_momentum": True, "use_beta1": False}),
        (lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.2, 4), {"max_lrs": [0.2], "total_size": 8.0, "step_ratio": 0.5}),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o), {"patience": 10, "best": math.inf, "factor": 0.1}),
        (lambda o: lr_scheduler.LambdaLR(o, lambda t: 1.0), {"lr_lambdas": [None]}),
        (lambda o: optim.swa_utils.SWALR(o, 0.02), {"anneal_epochs": 10}),
    ],
)
def test_public_attributes(make, names, tmp_path):
    optimizer = optim.SGD([parameter([1.0])], lr=0.1, momentum=0.9)
    schedule = make(optimizer)
    if not isinstance(schedule, lr_scheduler.ReduceLROnPlateau):
        schedule.step()
        names = names | ({"T_cur": 1} if "T_cur" in names else {})
    state = schedule.state_dict()
    assert {name: state[name] for name in names} == names
    for name, value in names.items():
        assert name == "lr_lambdas" or getattr(schedule, name) == value
    crisol.save({"schedule": state}, tmp_path / "state")
    other = make(optim.SGD([parameter([1.0])], lr=0.1, momentum=0.9))
    other.load_state_dict(crisol.load(tmp_path / "state")["schedule"])
    assert other.state_dict() == state


def test_states_of_schedules_of_schedules():
    def make():
        o = optim.SGD([parameter([1.0])], lr=0.1)
        parts = [lr_scheduler.LinearLR(o, 0.1, total_iters=3), lr_scheduler.ExponentialLR(o, 0.5)]
        return lr_scheduler.ChainedScheduler([lr_scheduler.SequentialLR(o, parts, [3]), lr_scheduler.StepLR(o, 2)])

    schedule, again = make(), make()
    for _ in range(4):
        schedule.step()
    again.load_state_dict(copy.deepcopy(schedule.state_dict()))
    again.optimizer.load_state_dict(schedule.optimizer.state_dict())
    for _ in range(3):
        schedule.step()
        again.step()
        assert again.get_last_lr() == schedule.get_last_lr() == [again.optimizer.param_groups[0]["lr"]]


def test_states_of_version_02():
    def exact(*values):
        return crisol.asarray([part for value in values for part in (value, 0.0, 0.0)], dtype=crisol.float32)

    schedule = lr_scheduler.StepLR(optim.SGD([parameter([1.0])], lr=0.25), 2)
    schedule.load_state_dict({"steps": crisol.asarray(3), "base_lr": exact(0.5)})
    assert schedule.last_epoch == 3 and schedule.base_lrs == [0.5] and schedule.get_last_lr() == [0.25]
    schedule.step()
    assert schedule.get_last_lr() == [0.025]
    plateau = lr_scheduler.ReduceLROnPlateau(schedule.optimizer)
    plateau.load_state_dict({"best": exact(1.5), "bad": crisol.asarray(2), "cooldown": crisol.asarray(1)})
    assert (plateau.best, plateau.num_bad_epochs, plateau.cooldown_counter) == (1.5, 2, 1)
    both = lr_scheduler.ChainedScheduler([schedule])
    both.load_state_dict({"schedules.0.steps": crisol.asarray(7), "schedules.0.base_lr": exact(0.5)})
    assert schedule.last_epoch == 7


def test_a_class_of_a_program():
    class Warm(lr_scheduler.LRScheduler):
        def __init__(self, optimizer, length, last_epoch=-1):
            self.length = length
            super().__init__(optimizer, last_epoch)

        def get_lr(self):
            return [rate * min(1.0, (self.last_epoch + 1) / self.length) for rate in self.base_lrs]

    schedule = Warm(optim.SGD([parameter([1.0])], lr=0.4), 4)
    rates = [schedule.get_last_lr()[0]]
    for _ in range(4):
        schedule.step()
        rates += schedule.get_last_lr()
    assert rates == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4])
    assert schedule.state_dict()["length"] == 4


def test_refusals():
    optimizer = optim.SGD([parameter([1.0])], lr=0.4)
    schedule = lr_scheduler.StepLR(optimizer, 1)
    with pytest.raises(crisol.InvalidArgumentError, match=r"\[StepLR\] group 0 has no 'initial_lr'"):
        lr_scheduler.StepLR(optim.SGD([parameter([1.0])], lr=0.4), 1, last_epoch=3)
    with pytest.raises(crisol.InvalidArgumentError, match="lr_lambda has 2 values for 1 groups"):
        lr_scheduler.LambdaLR(optimizer, [lambda t: 1.0] * 2)
    with pytest.raises(crisol.InvalidArgumentError, match="2 schedules and 0 milestones"):
        lr_scheduler.SequentialLR(optimizer, [schedule, schedule], [])
    other = optim.SGD([parameter([1.0])], lr=0.4)
    with pytest.raises(crisol.InvalidArgumentError, match="belongs to another optimiser"):
        lr_scheduler.SequentialLR(other, [schedule], [])
    with pytest.raises(crisol.InvalidArgumentError, match="belongs to another optimiser"):
        lr_scheduler.ChainedScheduler([schedule], other)
    schedule = lr_scheduler.LambdaLR(optimizer, lambda t: 1.0)
    optimizer.add_param_group({"params": [parameter([1.0])]})
    with pytest.raises(crisol.InvalidArgumentError, match="it has 1 rates, and the optimiser has 2 groups"):
        schedule.step()
