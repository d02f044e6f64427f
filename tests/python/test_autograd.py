"""crisol.autograd: modes, grad(), Function, checkpoint, hooks."""

import gc
import math
import weakref

import crisol
import numpy as np
import pytest
from crisol import autograd
from numeric import array_of, assert_close, check_gradients, tensor


class Cube(autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        assert not x.requires_grad
        ctx.save_for_backward(x)
        ctx.factor = factor
        return factor * x * x * x

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        return 3 * ctx.factor * x * x * dy, None


def test_modes():
    x = tensor([1, 2], requires_grad=True)
    assert crisol.is_grad_enabled()
    with crisol.no_grad():
        assert not crisol.is_grad_enabled() and not (2 * x).requires_grad
        with crisol.enable_grad():
            assert (2 * x).requires_grad
        assert not (2 * x).requires_grad
    assert (2 * x).requires_grad
    with crisol.set_grad_enabled(False):
        assert not (2 * x).requires_grad

    @crisol.no_grad()
    def twice(y, depth=2):
        """Doubles."""
        return twice(y, depth - 1) if depth else 2 * y

    assert not twice(x).requires_grad and (2 * x).requires_grad
    assert twice.__doc__ == "Doubles." and crisol.is_grad_enabled()


def test_mode_ends_with_an_exception():
    with pytest.raises(ZeroDivisionError), crisol.no_grad():
        1 / 0  # noqa: B018
    assert crisol.is_grad_enabled()


def test_grad_of_grad():
    x = tensor([1, -2, 3], requires_grad=True)
    (slope,) = autograd.grad(crisol.sum(x * x * x), x, create_graph=True)
    assert_close(slope.detach(), [3, 12, 27])
    (second,) = autograd.grad(crisol.sum(slope), x)
    assert_close(second, [6, -12, 18])
    assert x.grad is None


def test_grad_options():
    x, y = tensor([1, 2], requires_grad=True), tensor([3, 4], requires_grad=True)
    z = x * x
    gradients = autograd.grad(z, (x, y), grad_outputs=tensor([1, 10]), allow_unused=True, retain_graph=True)
    assert_close(gradients[0], [2, 40])
    assert gradients[1] is None
    with pytest.raises(crisol.InvalidArgumentError):
        autograd.grad(z, (x, y), grad_outputs=tensor([1, 10]))


def test_gradient_is_assigned():
    w = crisol.ones((2, 3)).requires_grad_()
    given = crisol.full((2, 3), 4.0)
    w.grad = given
    (w * 1).sum().backward()
    assert w.grad.tolist() == [[5] * 3] * 2 and given.tolist() == [[4] * 3] * 2
    optimizer = crisol.optim.SGD([w], lr=1)
    w.grad = given.T.clone().T
    optimizer.step()
    assert w.tolist() == [[-3] * 3] * 2
    w.grad = None
    assert w.grad is None
    for x in (w.requires_grad_(False), w * 2, crisol.asarray(1)):
        x.grad = None
        assert x.grad is None
    w.requires_grad_()
    halves = given.to(crisol.float16)
    for x, gradient in ((crisol.ones((2, 3)), given), (w, crisol.ones(3)), (w, halves), (w * 2, given)):
        with pytest.raises(ValueError, match="set_grad"):
            x.grad = gradient
    with pytest.raises(TypeError):
        w.grad = 1
    assert w.grad is None


def test_function():
    x = tensor([1, -2], requires_grad=True)
    y = Cube.apply(x, 2.0)
    assert_close(y.detach(), [2, -16])
    crisol.sum(y).backward()
    assert_close(x.grad, [6, 24])
    check_gradients(lambda t: Cube.apply(t, 0.5), np.linspace(-1, 1, 7))


def test_function_has_second_gradient():
    x = tensor([1, -2], requires_grad=True)
    (slope,) = autograd.grad(crisol.sum(Cube.apply(x, 1.0)), x, create_graph=True)
    (second,) = autograd.grad(crisol.sum(slope), x)
    assert_close(second, [6, -12])


def test_function_saves_its_result():
    class Exp(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = crisol.exp(x)
            ctx.save_for_backward(y, x)
            return y

        @staticmethod
        def backward(ctx, dy):
            assert ctx.needs_input_grad == (True,)
            y, x = ctx.saved_tensors
            assert x.shape == y.shape
            return dy * y

    check_gradients(Exp.apply, np.linspace(-1, 1, 5))
    x = tensor([0.5], requires_grad=True)
    y = Exp.apply(x)
    freed = weakref.ref(y)
    del y
    gc.collect()
    assert freed() is None


def test_function_errors():
    class Wrong(Cube):
        @staticmethod
        def backward(ctx, dy):
            return dy

    x = tensor([1], requires_grad=True)
    with pytest.raises(ValueError, match="1 gradients for 2 arguments"):
        Wrong.apply(x, 1.0).backward()

    class Text(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return "text"

    with pytest.raises(TypeError, match="must return a tensor or a tuple of tensors, not str"):
        Text.apply(x)

    class Raises(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, dy):
            raise KeyError("mine")

    y = Raises.apply(x)
    with pytest.raises(KeyError, match="mine"):
        y.backward()


def test_checkpoint():
    calls = []

    def block(a, b, factor):
        calls.append(crisol.is_grad_enabled())
        return crisol.tanh(a * b) * factor

    a, b = tensor([1, 2], requires_grad=True), tensor([0.5, -0.5], requires_grad=True)
    crisol.sum(autograd.checkpoint(block, a, b, 3.0)).backward()
    through_checkpoint = [array_of(a.grad), array_of(b.grad)]
    assert len(calls) == 2
    a, b = tensor([1, 2], requires_grad=True), tensor([0.5, -0.5], requires_grad=True)
    crisol.sum(block(a, b, 3.0)).backward()
    assert (through_checkpoint[0] == array_of(a.grad)).all()
    assert (through_checkpoint[1] == array_of(b.grad)).all()
    first, second = autograd.checkpoint(lambda x: (x + 1, x + 2), a)
    assert_close(second.detach() - first.detach(), [1, 1])


def test_tensor_hooks():
    x = tensor([1, 2], requires_grad=True)
    seen = []
    y = x * 3
    y.register_hook(lambda g: seen.append(array_of(g)))
    handle = x.register_hook(lambda g: g * 10)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(array_of(leaf.grad)))
    crisol.sum(y).backward()
    assert_close(x.grad, [30, 30])
    assert [list(s) for s in seen] == [[1, 1], [30, 30]]
    handle.remove()
    handle.remove()
    crisol.sum(x * 3).backward()
    assert_close(x.grad, [33, 33])


def test_exception_in_a_hook():
    x = tensor([1, 2], requires_grad=True)
    error = LookupError("mine")

    def hook(gradient):
        raise error

    x.register_hook(hook)
    y = crisol.sum(x * 2)
    with pytest.raises(LookupError) as raised:
        y.backward()
    assert raised.value is error
    x.register_hook(lambda gradient: "text")
    with pytest.raises((TypeError, LookupError)):
        crisol.sum(x * 2).backward()


def test_detect_anomaly():
    x = tensor([-1], requires_grad=True)
    with autograd.detect_anomaly(), pytest.raises(crisol.Error, match="NaN"):
        crisol.log(x)
    crisol.log(x)


def test_modes_without_parentheses():
    @crisol.no_grad
    def off():
        """A text."""
        return crisol.is_grad_enabled()

    with crisol.no_grad():
        on = crisol.enable_grad(crisol.is_grad_enabled)
        assert on() and not off()
    assert not off() and off.__doc__ == "A text." and crisol.is_grad_enabled()


class ProductAndSum(autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        product, total = a * b, (a + b).sum()
        ctx.save_for_backward(a, b, product)
        ctx.power = power
        return product, total

    @staticmethod
    def backward(ctx, dy, dz):
        a, b, product = ctx.saved_tensors
        assert product.shape == dy.shape and dz.shape == () and ctx.power == 2
        return dy * b + dz, dy * a + dz, None


def test_a_function_with_several_results():
    a, b = tensor([[1.0, 2.0, -3.0]]).requires_grad_(), tensor([[0.5], [4.0]]).requires_grad_()
    a_wide, b_wide = a + crisol.zeros(2, 3), b + crisol.zeros(2, 3)
    product, total = ProductAndSum.apply(a_wide, b_wide, 2)
    assert_close(product, np.array([[0.5, 1, -1.5], [4, 8, -12]]))
    assert_close(total, 13.5)
    plain = autograd.grad(((a * b) ** 2).sum() + 3 * (a_wide + b_wide).sum(), (a, b), retain_graph=True)
    own = autograd.grad((product**2).sum() + 3 * total, (a, b), retain_graph=True)
    for one, other in zip(own, plain):
        assert_close(one, array_of(other))
    (only,) = autograd.grad(ProductAndSum.apply(a_wide, b_wide, 2)[1], b)
    assert_close(only, np.array([[3.0], [3.0]]))


class Largest(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        value, place = x.max(dim=0)
        half = x / 2
        ctx.mark_non_differentiable(half)
        ctx.save_for_backward(place, half)
        return value, place, half

    @staticmethod
    def backward(ctx, dy, dplace, dhalf):
        place, half = ctx.saved_tensors
        assert dplace.tolist() == 0 and dplace.dtype == crisol.int64 and dhalf.tolist() == [0, 0, 0]
        assert half.tolist() == [0.5, 2, 1]
        return crisol.zeros_like(half).scatter(0, place.unsqueeze(0), dy.unsqueeze(0))


def test_results_without_a_gradient():
    x = tensor([1.0, 4.0, 2.0]).requires_grad_()
    value, place, half = Largest.apply(x)
    assert place.dtype == crisol.int64 and place.item() == 1 and half.tolist() == [0.5, 2, 1]
    assert value.requires_grad and not place.requires_grad and not half.requires_grad
    (3 * value).backward()
    assert x.grad.tolist() == [0, 3, 0]

    class Place(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.argmax()

    assert Place.apply(x).item() == 1 and not Place.apply(x).requires_grad


def test_gradients_of_several_dtypes_are_refused():
    class Mixed(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x.half()

    with pytest.raises(TypeError, match="tensors of one dtype"):
        Mixed.apply(tensor([1.0]).requires_grad_())


def test_grad_of_unused_inputs():
    x, y = tensor([1.0, 2.0], True), tensor([3.0], True)
    found = autograd.grad(crisol.sum(x * 2), (x, y), materialize_grads=True)
    assert [g.tolist() for g in found] == [[2.0, 2.0], [0.0]]
    with pytest.raises(ValueError, match="materialize_grads"):
        autograd.grad(crisol.sum(x * 2), (x, y), allow_unused=False, materialize_grads=True)


def test_power_of_a_half():
    """The values are PyTorch's: the square root, also for the sign of -0."""
    for power in (lambda x: x**0.5, lambda x: x.pow(0.5), lambda x: crisol.pow(x, 0.5)):
        x = tensor([-0.0, 0.0, 4.0], True)
        y = power(x)
        crisol.sum(y).backward()
        assert str(y.tolist()) == "[-0.0, 0.0, 2.0]" and x.grad.tolist() == [-math.inf, math.inf, 0.25]
