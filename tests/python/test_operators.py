"""The operators of Tensor."""

import operator

import crisol
import numpy as np
import pytest
from numeric import of, same

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
BITS = [operator.and_, operator.or_, operator.xor]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod]


@pytest.mark.parametrize("function", BINARY)
def test_arithmetic(function):
    a = np.array([[1.5, -2.0, 3.25], [4.0, 0.5, -6.0]], np.float32)
    b = np.array([2.0, -3.0, 0.75], np.float32)
    if function is operator.pow:
        a = np.abs(a)
    same(function(of(a), of(b)), function(a, b))
    same(function(of(a), 2), function(a, np.float32(2)))
    same(function(2.5, of(b) if function is not operator.pow else of(abs(b))),
         function(np.float32(2.5), b if function is not operator.pow else abs(b)))


@pytest.mark.parametrize("function", BINARY[:3] + BINARY[4:6])
def test_whole_arithmetic(function):
    a = np.array([7, -7, 6, -6, 0], np.int64)
    b = np.array([2, 2, -4, -3, 5], np.int64)
    x = function(crisol.asarray(a), crisol.asarray(b))
    assert x.dtype is crisol.int64
    np.testing.assert_array_equal(np.asarray(x), function(a, b))


@pytest.mark.parametrize("function", BITS)
def test_bits(function):
    a, b = np.array([5, -3, 12]), np.array([3, 6, -1])
    np.testing.assert_array_equal(np.asarray(function(crisol.asarray(a), crisol.asarray(b))), function(a, b))
    p, q = np.array([True, True, False]), np.array([True, False, False])
    x = function(crisol.asarray(p), crisol.asarray(q))
    assert x.dtype is crisol.bool
    np.testing.assert_array_equal(np.asarray(x), function(p, q))


def test_shifts_and_inversion():
    a = np.array([1, 5, -9])
    np.testing.assert_array_equal(np.asarray(crisol.asarray(a) << 2), a << 2)
    np.testing.assert_array_equal(np.asarray(crisol.asarray(a) >> 1), a >> 1)
    np.testing.assert_array_equal(np.asarray(~crisol.asarray(a)), ~a)
    assert (~crisol.asarray([True, False])).tolist() == [False, True]


@pytest.mark.parametrize("function", COMPARISONS)
def test_comparisons(function):
    a, b = np.array([1, 2, 3]), np.array([2, 2, 2])
    np.testing.assert_array_equal(np.asarray(function(crisol.asarray(a), crisol.asarray(b))), function(a, b))
    np.testing.assert_array_equal(np.asarray(function(crisol.asarray(a), 2)), function(a, 2))


@pytest.mark.parametrize("function", IN_PLACE)
def test_in_place(function):
    a, b = np.array([6.0, 7.0, -8.0], np.float32), np.array([2.0, -3.0, 2.5], np.float32)
    x = of(a)
    view = x[1:]
    y = function(x, of(b))
    assert y is x
    same(x, function(a.copy(), b))
    same(view, function(a.copy(), b)[1:])


def test_in_place_keeps_shape_and_kind():
    x = crisol.asarray([1, 2])
    with pytest.raises(ValueError):
        x += crisol.ones((3, 2), dtype=crisol.int64)
    with pytest.raises(ValueError):
        x += 0.5
    assert x.tolist() == [1, 2]


def test_methods_in_place_return_the_same_object():
    x = of([-1, 2])
    assert x.relu_() is x and x.tolist() == [0, 2]
    assert x.add_(1) is x and x.fill_(3) is x and x.zero_() is x and x.copy_(of([4, 5])) is x
    assert x.tolist() == [4, 5]


def test_dtypes_of_results_depend_on_dtypes_alone():
    scalar = crisol.asarray(1, dtype=crisol.int64)
    assert (scalar + crisol.ones((2,), dtype=crisol.uint8)).dtype is crisol.int64
    assert (crisol.ones((2,), dtype=crisol.uint8) + 1).dtype is crisol.uint8
    assert (of(1.0) * crisol.ones((2,), dtype=crisol.float16)).dtype is crisol.float32


def test_foreign_operands():
    x = of([1, 2])
    same(np.float32(3) * x, [3, 6])
    same(x - np.int64(1), [0, 1])
    with pytest.raises(TypeError):
        x + "1"
    assert (x == "1") is False
