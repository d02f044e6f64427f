"""crisol.func and crisol.autograd.functional: functions of functions."""

import crisol
import numpy
import pytest
from crisol import func, nn

X = numpy.array([0.5, -1.0, 2.0], dtype=numpy.float32)
Y = numpy.array([1.0, 0.25, -3.0], dtype=numpy.float32)


def close(tensor, expected):
    numpy.testing.assert_allclose(numpy.asarray(tensor.detach()), expected, rtol=1e-5, atol=1e-6)


def cubes(x):
    return (x**3).sum()


def test_grad_and_value():
    x = crisol.asarray(X)
    close(func.grad(cubes)(x), 3 * X**2)
    gradient, value = func.grad_and_value(cubes)(x)
    close(gradient, 3 * X**2)
    close(value, (X**3).sum())
    assert not gradient.requires_grad and not x.requires_grad
    gradient, more = func.grad(lambda x: (cubes(x), x + 1), has_aux=True)(x)
    close(gradient, 3 * X**2)
    close(more, X + 1)
    of_both = func.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(x, crisol.asarray(Y))
    close(of_both[0], Y)
    close(of_both[1], X)


def test_gradients_of_gradients():
    close(func.grad(lambda x: func.grad(cubes)(x).sum())(crisol.asarray(X)), 6 * X)
    x = crisol.asarray(X).requires_grad_()
    func.grad(cubes)(x).sum().backward()
    close(x.grad, 6 * X)


def test_products_with_the_jacobian():
    x, y = crisol.asarray(X), crisol.asarray(Y)
    value, products = func.vjp(lambda x: x**2, x)
    close(value, X**2)
    close(products(y)[0], 2 * X * Y)
    value, product = func.jvp(lambda x: x**2, (x,), (y,))
    close(value, X**2)
    close(product, 2 * X * Y)
    for name, expected in (("vjp", 2 * X * Y), ("jvp", 2 * X * Y)):
        close(getattr(crisol.autograd.functional, name)(lambda x: x**2, x, y)[1], expected)
    close(crisol.autograd.functional.hvp(cubes, x, y)[1], 6 * X * Y)


@pytest.mark.parametrize("jacobian", [func.jacrev, func.jacfwd])
def test_jacobians(jacobian):
    x = crisol.asarray(X)
    close(jacobian(lambda x: x**2)(x), numpy.diag(2 * X))
    close(jacobian(lambda x: x.sum())(x), numpy.ones(3))
    close(func.hessian(cubes)(x), numpy.diag(6 * X))
    close(crisol.autograd.functional.jacobian(lambda x: crisol.outer(x, x)[0], x), [[1, 0, 0], [-1, 0.5, 0], [2, 0, 0.5]])
    close(crisol.autograd.functional.hessian(cubes, x), numpy.diag(6 * X))
    parts = crisol.autograd.functional.jacobian(lambda x, y: x * y, (x, crisol.asarray(Y)))
    close(parts[0], numpy.diag(Y))
    close(parts[1], numpy.diag(X))


def test_vmap():
    a, b = numpy.arange(6, dtype=numpy.float32).reshape(2, 3), numpy.ones((2, 3), dtype=numpy.float32) * 2
    x, y = crisol.asarray(a), crisol.asarray(b)
    close(crisol.vmap(crisol.dot)(x, y), (a * b).sum(1))
    close(func.vmap(lambda x, y: x + y, in_dims=(1, None), out_dims=1)(x, crisol.asarray([1.0, 2.0])), a + [[1], [2]])
    pair = func.vmap(lambda part: (part["a"] * 2, part["b"]))({"a": x, "b": y})
    close(pair[0], a * 2)
    close(pair[1], b)
    close(func.vmap(func.grad(cubes))(x), 3 * a**2)
    with pytest.raises(ValueError, match="sizes"):
        func.vmap(lambda x, y: x)(x, crisol.ones(3))


def test_functional_call():
    net = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))
    x = crisol.asarray(numpy.stack([X, Y]))
    before = {name: numpy.asarray(p.detach()).copy() for name, p in net.named_parameters()}
    given = {name: p.detach() * 0 + 0.5 for name, p in net.named_parameters()}
    expected = numpy.tanh(numpy.stack([X, Y]) @ numpy.full((3, 2), 0.5) + 0.5) @ numpy.full((2, 1), 0.5) + 0.5
    close(func.functional_call(net, given, (x,)), expected)
    for name, parameter in net.named_parameters():
        numpy.testing.assert_array_equal(numpy.asarray(parameter.detach()), before[name])
    gradients = func.grad(lambda p: func.functional_call(net, p, (x,)).sum())(given)
    assert gradients["0.weight"].shape == (2, 3) and gradients["2.bias"].item() == 2
    with pytest.raises(crisol.InvalidArgumentError, match="no parameter or buffer"):
        func.functional_call(net, {"3.weight": x}, (x,))


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(crisol.ones(3))

    def forward(self, x):
        return x * self.w


def test_functional_call_of_own_parameters():
    net = Own()
    close(func.functional_call(net, {"w": crisol.asarray(Y)}, crisol.asarray(X)), X * Y)
    close(net(crisol.asarray(X)), X)
    assert isinstance(net.w, nn.Parameter)


def test_setup_context():
    class Power(crisol.autograd.Function):
        @staticmethod
        def forward(x, n):
            return x**n

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.n = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensors
            return ctx.n * x ** (ctx.n - 1) * dy, None

    x = crisol.asarray(X).requires_grad_()
    Power.apply(x, 3).sum().backward()
    close(x.grad, 3 * X**2)
