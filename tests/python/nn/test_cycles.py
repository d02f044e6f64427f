"""Cycles through objects that the library keeps: Python's collector finds them."""

import functools
import gc
import weakref

import crisol
import pytest
from crisol import autograd, nn, optim
from crisol.optim import lr_scheduler

ROUNDS = 1000


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.own = nn.Parameter(crisol.ones(3))
        self.kept = None

    def keep(self, *given):
        self.kept = given

    def forward(self, x):
        return self.fc(x)


def forward_hook():
    net = Net()
    net.fc.register_forward_hook(net.keep)
    net(crisol.ones(1, 3))
    return net


def pre_hook():
    net = Net()
    net.register_forward_pre_hook(lambda *given, net=net: None)
    return net


def backward_hooks():
    net = Net()
    net.register_full_backward_hook(net.keep)
    net.fc.register_full_backward_pre_hook(net.keep)
    net.kept = net(crisol.ones(1, 3).requires_grad_())  # The graph has a watch of the module.
    return net


def hook_of_a_sequence():
    net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    net[0].register_forward_hook(lambda *given: net and None)
    net(crisol.ones(1, 3))
    return net


def hook_inside_a_model():
    net = nn.models.SimpleCNN()
    net.conv1.register_forward_hook(lambda *given: net)
    return net


def hook_of_a_parameter():
    net = Net()
    net.fc.weight.register_hook(net.keep)
    return net


def hook_of_an_attribute():
    net = Net()
    net.own.register_post_accumulate_grad_hook(net.keep)
    return net


def hook_of_a_leaf():
    x = crisol.ones(3).requires_grad_()
    x.register_hook(lambda g, x=x: None)
    return x


def hook_of_a_result():
    y = crisol.ones(3).requires_grad_() * 2
    y.register_hook(functools.partial(lambda y, g: None, y))
    return y


def hook_that_knows_a_later_result():
    x = crisol.ones(3).requires_grad_()
    y = x * 2
    z = y + 1
    y.register_hook(lambda g, z=z: None)
    return z


def hook_of_a_result_with_several_uses():
    x = crisol.ones(3).requires_grad_()
    y = x * 2
    z = y * y + y.exp() * y.relu()
    y.register_hook(lambda g, z=z: None)
    return z


def hook_of_a_result_with_views():
    y = crisol.ones(2, 3).requires_grad_() * 2
    parts = [y[0], y.reshape(3, 2), (y * y).flatten()]
    y.register_hook(lambda g, parts=parts: None)
    return crisol.sum(parts[2]) * parts[0]


def backward_hooks_in_a_graph_with_branches():
    net = Net()
    net.register_full_backward_hook(net.keep)
    net.fc.register_full_backward_hook(net.keep)
    y = net(crisol.ones(1, 3).requires_grad_())
    y = net(y * y) * y + y
    net.kept = crisol.softmax(y, 1) * y
    return net


class Keeps(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.result = 2 * x
        return ctx.result

    @staticmethod
    def backward(ctx, dy):
        return 2 * dy


def context_with_its_result():
    return Keeps.apply(crisol.ones(3).requires_grad_())


def net_with_parent():
    net = Net()
    net.fc.__dict__["parent"] = net
    return net


def schedule():
    optimizer = optim.SGD(nn.Linear(3, 3).parameters(), 0.1)
    optimizer.schedule = lr_scheduler.StepLR(optimizer, 3)
    return optimizer


def schedule_by_functions():
    optimizer = optim.Adam(nn.Linear(3, 3).parameters())
    optimizer.schedule = lr_scheduler.LambdaLR(optimizer, lambda step, optimizer=optimizer: 1 / (step + 1))
    return optimizer


def schedules_in_sequence():
    optimizer = optim.SGD(nn.Linear(3, 3).parameters(), 0.1)
    parts = [lr_scheduler.LinearLR(optimizer), lr_scheduler.ExponentialLR(optimizer, 0.9)]
    optimizer.schedule = lr_scheduler.SequentialLR(optimizer, parts, [5])
    return optimizer


def plateau():
    optimizer = optim.SGD(nn.Linear(3, 3).parameters(), 0.1)
    optimizer.schedule = lr_scheduler.ReduceLROnPlateau(optimizer)
    return optimizer


def fused_method():
    class Owner:
        @crisol.fuse
        def twice(self, x):
            return 2 * x

    owner = Owner()
    owner.method = owner.twice
    owner.method(crisol.ones(3))
    return owner


MAKERS = [value for name, value in list(globals().items()) if callable(value) and value.__module__ == __name__]
MAKERS = [value for value in MAKERS if not isinstance(value, type)]


@pytest.mark.parametrize("make", MAKERS)
def test_a_cycle_is_collected(make):
    rounds = 10 if make is hook_inside_a_model else ROUNDS
    references = [weakref.ref(make()) for _ in range(rounds)]
    gc.collect()
    assert sum(reference() is not None for reference in references) == 0


def test_what_is_used_stays():
    # Each hook is the only thing that knows its object, and something that is used knows the hook.
    net, calls = Net(), []

    class Counter:
        def hook(self, *given):
            calls.append(len(given))

    net.fc.weight.register_hook(Counter().hook)
    net.register_forward_hook(Counter().hook)
    x = crisol.ones(1, 3).requires_grad_()
    x.register_hook(Counter().hook)
    y = net(x) * 1
    y.register_hook(Counter().hook)
    schedule = lr_scheduler.LambdaLR(optim.SGD(net.parameters(), 1.0), [lambda step: 0.5])
    z = Keeps.apply(y)
    total = crisol.sum(z)
    x_handle, net_weight = x, net.fc.weight
    del x, y, z, net
    gc.collect()
    total.backward()
    gc.collect()
    assert calls == [3, 1, 1, 1] and x_handle.grad is not None and net_weight.grad is not None
    assert schedule.get_last_lr() == [0.5]
    schedule.step()


def test_a_layer_with_hooks_that_only_the_library_holds():
    net, calls = nn.models.SimpleCNN(), []
    net.conv1.register_forward_hook(lambda module, args, y: calls.append(type(module)))
    gc.collect()
    net(crisol.ones(1, 1, 28, 28))
    assert calls == [nn.Conv2d]
