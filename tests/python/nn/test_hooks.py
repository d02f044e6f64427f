"""Hooks of modules, and exceptions in Python code that the library calls."""

import crisol
import numpy as np
import pytest
from crisol import nn
from nets import Net
from numeric import assert_close, tensor


def test_hooks():
    net = Net()
    x = tensor(np.ones((2, 3)), requires_grad=True)
    plain = np.asarray(net(x))
    seen = []
    handles = [
        net.register_forward_pre_hook(lambda module, args: seen.append((module, args))),
        net.register_forward_hook(lambda module, args, y: 3 * y),
        net.head[1].register_full_backward_hook(lambda module, gi, go: seen.append((module, gi, go))),
    ]
    assert_close(net(x), 3 * plain)
    assert seen[0][0] is net and seen[0][1][0].shape == (2, 3)
    crisol.sum(net(x)).backward()
    module, grad_input, grad_output = seen[-1]
    assert module is net.head[1] and grad_input[0].shape == (2, 3)
    assert_close(grad_output[0], np.full((2, 2), 3))
    for handle in handles:
        handle.remove()
    assert_close(net(x), plain)
    net.blocks[0].register_forward_pre_hook(lambda module, args: (0 * args[0],))
    bias = np.asarray(net.blocks[0].linear.bias)
    assert_close(net.blocks[0](x, factor=1.0), np.tile(bias, (2, 1)))


def test_hook_of_a_module_with_several_outputs():
    class Two(nn.Module):
        def forward(self, x, shift):
            return x + shift, "rest"

    module = Two()
    module.register_forward_hook(lambda module, args, y: 10 * y)
    y, rest = module(tensor([1, 2]), shift=1)
    assert_close(y, [20, 30])
    assert rest == "rest"
    with pytest.raises(TypeError, match="first argument"):
        module(x=tensor([1]), shift=1)


def test_exceptions_arrive_unchanged():
    error = KeyError("mine")

    class Raises(nn.Module):
        def forward(self, x):
            raise error

    for module in (Raises(), nn.Sequential(nn.ReLU(), Raises())):
        with pytest.raises(KeyError) as raised:
            module(crisol.ones(1))
        assert raised.value is error
    layer = nn.ReLU()
    layer.register_forward_hook(lambda module, args, y: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        layer(crisol.ones(1))


def test_a_handle_is_a_context_manager():
    net, calls = nn.Linear(2, 2), []
    with net.register_forward_hook(lambda module, inputs, output: calls.append(1)):
        net(crisol.ones(1, 2))
    net(crisol.ones(1, 2))
    assert calls == [1]
