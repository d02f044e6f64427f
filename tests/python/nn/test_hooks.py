"""Hooks of modules, and exceptions in Python code that the library calls."""

import crisol
import numpy as np
import pytest
from crisol import nn
from nets import Net
from numeric import array_of, assert_close, tensor


def test_hooks():
    net = Net()
    x = tensor(np.ones((2, 3)), requires_grad=True)
    plain = array_of(net(x))
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
    bias = array_of(net.blocks[0].linear.bias)
    assert_close(net.blocks[0](x, factor=1.0), np.tile(bias, (2, 1)))


class Any(nn.Module):
    """Gives what its function gives."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def test_hooks_see_any_arguments_and_results():
    x = tensor([1, 2])
    cases = [
        (Any(lambda x, shift: (x + shift, "rest")), (x,), {"shift": 1}),
        (Any(lambda xs: xs[0] + xs[1]), ([x, x],), {}),
        (Any(lambda x: {"out": x}), (), {"x": x}),
        (Any(lambda: None), (), {}),
    ]
    for module, args, kwargs in cases:
        plain, seen = module(*args, **kwargs), []
        module.register_forward_pre_hook(lambda *given: seen.append(given))
        module.register_forward_hook(lambda *given: seen.append(given))
        result = module(*args, **kwargs)
        assert type(result) is type(plain)
        assert [call[:2] for call in seen] == [(module, args)] * 2 and seen[1][2] is result
    module = Any(lambda x: (x, "rest"))
    module.register_forward_hook(lambda module, args, result: {"y": result[0]})
    assert set(module(x)) == {"y"}


def test_options_of_hooks():
    x, calls = tensor([1]), []
    module = Any(lambda x, factor=1: x * factor)

    def change(module, args, kwargs):
        return (args[0] + 1,), {"factor": 3 * kwargs["factor"]}

    module.register_forward_pre_hook(change, with_kwargs=True)
    assert_close(module(x, factor=2), [12])
    module.register_forward_hook(lambda *_: calls.append("second"))
    module.register_forward_hook(lambda m, args, kwargs, y: calls.append(dict(kwargs)), prepend=True, with_kwargs=True)
    module(x, factor=2)
    assert calls == [{"factor": 6}, "second"]
    module.register_forward_hook(lambda m, args, y: calls.append(y), always_call=True)
    module.function = lambda x, factor: x + None
    with pytest.raises(TypeError):
        module(x, factor=2)
    assert calls[2:] == [None]
    module = Any(lambda x: x)
    module.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="returns None or"):
        module(x)
    with pytest.raises(TypeError, match="a hook is a function"):
        module.register_forward_hook(3)


def test_backward_hooks_of_several_tensors():
    a, b = tensor([1, 2], requires_grad=True), tensor([3, 4], requires_grad=True)
    module, seen = Any(lambda a, text, b: (a * b, a + b, text)), []
    module.register_full_backward_pre_hook(lambda module, grad_output: (2 * grad_output[0], *grad_output[1:]))
    module.register_full_backward_hook(lambda *given: seen.append(given))
    module.register_full_backward_hook(lambda module, grad_input, _: (10 * grad_input[0], None, grad_input[2]))
    product, total, text = module(a, "text", b)
    (crisol.sum(product) + 5 * crisol.sum(total)).backward()
    assert text == "text" and len(seen) == 1 and seen[0][0] is module
    grad_input, grad_output = seen[0][1:]
    assert_close(grad_output[0], [2, 2])
    assert_close(grad_output[1], [5, 5])
    assert grad_output[2] is None and grad_input[1] is None
    assert_close(grad_input[0], [2 * 3 + 5, 2 * 4 + 5])
    assert_close(a.grad, [110, 130])
    assert_close(b.grad, [2 * 1 + 5, 2 * 2 + 5])
    # An argument without a gradient: the hook runs when the gradients of the results are known.
    layer, seen = nn.Linear(2, 2), []
    layer.register_full_backward_hook(lambda module, *given: seen.append(given))
    crisol.sum(layer(crisol.ones(1, 2))).backward()
    assert seen[0][0] == (None,) and seen[0][1][0].shape == (1, 2)
    with pytest.warns(UserWarning, match="tuple of tensors, not dict"):
        module = Any(lambda x: {"y": 2 * x})
        module.register_full_backward_hook(lambda *_: None)
        module(a)
    with pytest.raises(RuntimeError, match="returned 2 gradients in place of 1"):
        module = Any(lambda x: 2 * x)
        module.register_full_backward_hook(lambda *_: (None, None))
        crisol.sum(module(a)).backward()


def test_gradients_of_gradients_through_backward_hooks():
    x = tensor([3], requires_grad=True)
    module = Any(lambda x, y: x * x * y)
    module.register_full_backward_hook(lambda *_: None)
    (slope,) = crisol.autograd.grad(crisol.sum(module(x, x)), x, create_graph=True)
    crisol.sum(slope).backward()
    assert_close(x.grad, [18])


def test_hooks_of_layers_that_the_library_calls():
    net, seen = nn.models.resnet18(num_classes=3).eval(), []
    net.layer1[0].conv1.register_forward_hook(lambda module, args, y: seen.append((args[0].shape, y.shape)))
    handle = net.layer1[0].conv1.register_forward_hook(lambda module, args, y: 0 * y)
    changed = net(crisol.ones(1, 3, 32, 32))
    handle.remove()
    assert seen == [((1, 64, 8, 8), (1, 64, 8, 8))]
    assert not crisol.all(changed == net(crisol.ones(1, 3, 32, 32)))
    net.layer1[0].conv1.register_forward_hook(lambda module, args, y: "text")
    with pytest.raises(TypeError, match="must be a tensor"):
        net(crisol.ones(1, 3, 32, 32))


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
