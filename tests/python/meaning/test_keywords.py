"""The arguments have PyTorch's names, and NumPy's where PyTorch takes them."""

import crisol
import numpy
import pytest

X = numpy.arange(12, dtype=numpy.float32).reshape(3, 4) / 7 - 0.5
Y = numpy.cos(X)


def tensors():
    return crisol.asarray(X), crisol.asarray(Y)


FUNCTIONS = [
    (lambda x, y: crisol.matmul(input=x, other=y.T), lambda x, y: x @ y.T),
    (lambda x, y: crisol.sum(input=x, dim=1, keepdim=True), lambda x, y: x.sum(1, keepdims=True)),
    (lambda x, y: crisol.sum(x, axis=1, keepdims=True), lambda x, y: x.sum(1, keepdims=True)),
    (lambda x, y: crisol.mean(input=x), lambda x, y: x.mean()),
    (lambda x, y: crisol.prod(input=x, dim=0), lambda x, y: x.prod(0)),
    (lambda x, y: crisol.argmax(input=y, dim=1), lambda x, y: y.argmax(1)),
    (lambda x, y: crisol.count_nonzero(input=x, dim=0), lambda x, y: numpy.count_nonzero(x, 0)),
    (lambda x, y: crisol.softmax(input=x, dim=1), lambda x, y: numpy.exp(x) / numpy.exp(x).sum(1, keepdims=True)),
    (lambda x, y: crisol.masked_fill(input=x, mask=x > 0, value=2.0), lambda x, y: numpy.where(x > 0, 2, x)),
    (lambda x, y: crisol.lerp(input=x, end=y, weight=0.25), lambda x, y: x + 0.25 * (y - x)),
    (lambda x, y: x.lerp(end=y, weight=0.25), lambda x, y: x + 0.25 * (y - x)),
    (lambda x, y: crisol.addcmul(input=x, tensor1=x, tensor2=y, value=2), lambda x, y: x + 2 * x * y),
    (lambda x, y: x.addcmul(tensor1=x, tensor2=y, value=2), lambda x, y: x + 2 * x * y),
    (lambda x, y: crisol.isclose(input=x, other=y, atol=10.0), lambda x, y: numpy.isclose(x, y, atol=10)),
    (lambda x, y: crisol.exp(a=x), lambda x, y: numpy.exp(x)),
    (lambda x, y: crisol.trace(input=x), lambda x, y: numpy.trace(x)),
    (lambda x, y: x.reshape(shape=(4, 3)), lambda x, y: x.reshape(4, 3)),
    (lambda x, y: x.view(size=(2, 6)), lambda x, y: x.reshape(2, 6)),
    (lambda x, y: x.expand(size=(2, 3, 4)), lambda x, y: numpy.broadcast_to(x, (2, 3, 4))),
    (lambda x, y: x.repeat(repeats=(2, 1)), lambda x, y: numpy.tile(x, (2, 1))),
    (lambda x, y: x.tile(dims=(2,)), lambda x, y: numpy.tile(x, 2)),
    (lambda x, y: x.permute(dims=(1, 0)), lambda x, y: x.T),
    (lambda x, y: x.split(split_size=2, dim=1)[1], lambda x, y: x[:, 2:]),
    (lambda x, y: x.clone().pow_(exponent=2), lambda x, y: x**2),
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_arguments_have_pytorchs_names(number):
    ours, numpys = FUNCTIONS[number]
    for _ in range(2):  # The second call finds the names that the first one looked up.
        result = numpy.asarray(ours(*tensors()))
        numpy.testing.assert_allclose(result, numpys(X, Y), rtol=1e-5, atol=1e-6)


def test_any_function_writes_into_out():
    x, y = tensors()
    out = crisol.empty(3, 3)
    assert crisol.matmul(x, y.T, out=out) is out
    numpy.testing.assert_allclose(numpy.asarray(out), X @ Y.T, rtol=1e-5)


def test_a_name_that_no_library_has_is_refused():
    x, _ = tensors()
    for call in (lambda: crisol.sum(foo=x), lambda: x.reshape(foo=(4, 3)), lambda: crisol.sum(x, foo=1)):
        with pytest.raises(TypeError, match="no argument 'foo'"):
            call()


def test_softmax_converts_first():
    y = crisol.softmax(crisol.asarray([[1, 2]]), 1, dtype=crisol.float32)
    assert y.dtype is crisol.float32
    numpy.testing.assert_allclose(numpy.asarray(y), [[0.26894143, 0.7310586]], rtol=1e-5)


def test_view_of_a_dtype():
    x = crisol.asarray([1.0, -2.0])
    assert x.view(crisol.int32).tolist() == [0x3F800000, 0xC0000000 - 2**32]
    assert x.view(dtype=crisol.int32).dtype is crisol.int32
