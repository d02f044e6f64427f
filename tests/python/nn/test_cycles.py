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


def hook_of_a_result_with_kept_views():
    y = crisol.ones(2, 3).requires_grad_() * 2
    parts = [y[0], y.reshape(3, 2), (y * y).flatten()]
    y.register_hook(lambda g, parts=parts: None)
    return parts[1]


def hook_of_a_result_that_two_objects_keep():
    y = crisol.ones(3).requires_grad_() * 2
    owners = Net(), Net()
    y.register_hook(lambda g, owners=owners: None)
    owners[0].kept, owners[1].kept = y + 1, [y.exp(), y.detach().requires_grad_()]
    return owners[1]


def hook_of_a_parameter_beside_a_kept_loss():
    net = Net()
    net.fc.weight.register_hook(net.keep)
    net.loss = crisol.sum(net(crisol.ones(1, 3).requires_grad_()))
    return net


def hooks_of_attributes_beside_kept_losses():
    net = Net()
    net.own.register_hook(net.keep)
    net.own.register_post_accumulate_grad_hook(net.keep)
    net.keep(net.own, crisol.sum(net.own * net(crisol.ones(1, 3))), crisol.relu(net.own))
    return net


def hooks_of_kept_parameters():
    net = Net()
    net.parameters_by_name = dict(net.named_parameters())
    for parameter in net.parameters():
        parameter.register_hook(net.keep)
    return net


def hook_of_a_kept_gradient():
    net = Net()
    x = crisol.ones(3).requires_grad_()
    (Keeps.apply(x * net.own) ** 3).sum().backward(create_graph=True)
    net.own.grad.register_hook(net.keep)
    net.kept = x
    return net


def hook_of_a_parameter_that_a_list_keeps_too():
    leaf, others = crisol.ones(3).requires_grad_(), []
    leaf.register_hook(lambda g: others)
    others.extend([leaf * 2, leaf * leaf, crisol.stack([leaf, leaf]), leaf])
    return others[1]


def hook_that_knows_the_trainer():
    trainer = Net()
    trainer.optimizers = [optim.Adam(trainer.fc.parameters()), optim.Adagrad([trainer.own])]
    trainer.fc.weight.register_hook(trainer.keep)
    trainer.own.register_hook(trainer.keep)
    for _ in range(2):
        trainer.loss = crisol.sum(trainer(crisol.ones(1, 3)) * trainer.own)
        trainer.loss.backward(retain_graph=True)
        for optimizer in trainer.optimizers:
            optimizer.step()
    return trainer


def hook_of_a_parameter_inside_a_model():
    net = nn.models.SimpleCNN()
    net.conv1.weight.register_hook(lambda g: net)
    return net


def hook_of_a_fused_result():
    y = crisol.ones(3).requires_grad_() * 2
    z = gelu_of(y, y * 3)
    y.register_hook(lambda g, z=z: None)
    return z


def hook_behind_an_epilogue():
    net = Net()
    x = crisol.ones(2, 3).requires_grad_() * 2
    y = nn.Sequential(net.fc, nn.ReLU())(x)
    net.fc.weight.register_hook(net.keep)
    x.register_hook(net.keep)
    net.kept = y
    return net


def backward_hooks_in_a_graph_with_branches():
    net = Net()
    net.register_full_backward_hook(net.keep)
    net.fc.register_full_backward_hook(net.keep)
    y = net(crisol.ones(1, 3).requires_grad_())
    y = net(y * y) * y + y
    net.kept = crisol.softmax(y, 1) * y
    return net


def result_of_a_checkpoint():
    net = Net()
    net.kept = autograd.checkpoint(net, crisol.ones(1, 3))
    return net


def result_of_a_checkpoint_after_backward():
    net = Net()
    net.kept = autograd.checkpoint(lambda x: crisol.relu(net(x) * x), crisol.ones(1, 3).requires_grad_() * 2)
    crisol.sum(net.kept).backward(retain_graph=True)
    return net


def results_of_a_checkpoint():
    net = Net()
    net.kept = autograd.checkpoint(lambda x: (net(x), crisol.exp(net.own * x)), crisol.ones(1, 3))
    net.sum = crisol.sum(net.kept[0] * net.kept[1])
    return net


def checkpoint_in_a_checkpoint():
    net = Net()
    net.kept = autograd.checkpoint(lambda x: autograd.checkpoint(net, x) * net.own, crisol.ones(1, 3).requires_grad_())
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


@crisol.fuse
def gelu_of(x, y):
    return x * crisol.tanh(y * x)


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
MAKERS = [value for value in MAKERS if not isinstance(value, type) and value is not gelu_of]


@pytest.mark.parametrize("make", MAKERS)
def test_a_cycle_is_collected(make):
    rounds = 10 if make in (hook_inside_a_model, hook_of_a_parameter_inside_a_model) else ROUNDS
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


def test_the_function_of_a_checkpoint_that_is_used_stays():
    calls = []

    class Layer:
        def run(self, x):
            calls.append(x.shape)
            return crisol.exp(x) * x

    x = crisol.ones(3).requires_grad_()
    y = autograd.checkpoint(Layer().run, x) * 2
    gc.collect()
    crisol.sum(y).backward()
    assert calls == [(3,), (3,)] and x.grad is not None


@pytest.mark.parametrize("part", ["view", "result", "leaf"])
def test_what_one_of_several_owners_still_uses_stays(part):
    calls = []

    def keep(owner):
        leaf = crisol.ones(2, 3).requires_grad_()
        y = leaf * 2
        owners = [y[0], y * y, leaf]
        for x in (y, leaf):
            x.register_hook(lambda g, owners=owners: calls.append(len(owners)))
        owner.kept = {"view": y[0], "result": crisol.exp(y), "leaf": leaf * 3}[part]

    owner = Net()
    keep(owner)
    gc.collect()
    crisol.sum(owner.kept).backward()
    assert calls == ([3] if part == "leaf" else [3, 3])
    del owner
    gc.collect()
    gc.collect()


def test_a_finalizer_that_keeps_a_result():
    kept, calls = [], []

    class Owner:
        def __del__(self):
            kept.append(self.result * 2)

    owner = Owner()
    owner.result = crisol.ones(3).requires_grad_() * 2
    owner.result.register_hook(lambda g, owner=owner: calls.append(owner.result.shape))
    del owner
    gc.collect()
    assert len(kept) == 1
    crisol.sum(kept[0]).backward()
    assert calls == [(3,)]


def test_a_layer_with_hooks_that_only_the_library_holds():
    net, calls = nn.models.SimpleCNN(), []
    net.conv1.register_forward_hook(lambda module, args, y: calls.append(type(module)))
    gc.collect()
    net(crisol.ones(1, 1, 28, 28))
    assert calls == [nn.Conv2d]
