"""The operators of Tensor."""

import operator

import crisol
import numpy as np
import pytest
from numeric import array_of, of, same

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
    np.testing.assert_array_equal(array_of(x), function(a, b))


@pytest.mark.parametrize("function", BITS)
def test_bits(function):
    a, b = np.array([5, -3, 12]), np.array([3, 6, -1])
    np.testing.assert_array_equal(array_of(function(crisol.asarray(a), crisol.asarray(b))), function(a, b))
    p, q = np.array([True, True, False]), np.array([True, False, False])
    x = function(crisol.asarray(p), crisol.asarray(q))
    assert x.dtype is crisol.bool
    np.testing.assert_array_equal(array_of(x), function(p, q))


def test_shifts_and_inversion():
    a = np.array([1, 5, -9])
    np.testing.assert_array_equal(array_of(crisol.asarray(a) << 2), a << 2)
    np.testing.assert_array_equal(array_of(crisol.asarray(a) >> 1), a >> 1)
    np.testing.assert_array_equal(np.asarray(~crisol.asarray(a)), ~a)
    assert (~crisol.asarray([True, False])).tolist() == [False, True]


def test_comparisons_with_a_number_beyond_the_dtype():
    x = crisol.tensor([0, 1], dtype=crisol.int32)
    for number, below in ((2**31, True), (2**63, True), (2**64 - 1, True), (-(2**31) - 1, False), (-(2**63), False)):
        for result in (x < number, x <= number, number > x, number >= x):
            assert result.dtype is crisol.bool and result.tolist() == [below] * 2
        for result in (x > number, x >= number, number < x, number <= x):
            assert result.tolist() == [not below] * 2
        assert (x == number).tolist() == [False] * 2 and (x != number).tolist() == [True] * 2
    assert (x.to(crisol.uint64) > -1).all() and not (x.to(crisol.int64) >= 2**63).any()
    assert x.clamp(max=2**40).tolist() == x.clamp(min=-(2**40)).tolist() == [0, 1]
    with pytest.raises(crisol.InvalidArgumentError, match="2147483648 does not fit int32"):
        x + 2**31


def test_view_as_a_dtype_of_another_size():
    x = np.arange(12, dtype=np.int32).reshape(3, 4) * 1234567
    for dtype in ("uint8", "int16", "float64", "uint64"):
        found = crisol.asarray(x).view(getattr(crisol, dtype))
        assert found.shape == x.view(dtype).shape and found.view(crisol.int32).tolist() == x.tolist()
        np.testing.assert_array_equal(array_of(found), x.view(dtype))
    with pytest.raises(crisol.InvalidArgumentError, match="no multiple"):
        crisol.asarray(x[:, :3].copy()).view(crisol.int64)
    with pytest.raises(crisol.InvalidArgumentError):
        crisol.tensor(1.0).view(crisol.uint8)


@pytest.mark.parametrize("function", COMPARISONS)
def test_comparisons(function):
    a, b = np.array([1, 2, 3]), np.array([2, 2, 2])
    np.testing.assert_array_equal(array_of(function(crisol.asarray(a), crisol.asarray(b))), function(a, b))
    np.testing.assert_array_equal(array_of(function(crisol.asarray(a), 2)), function(a, 2))


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


def test_dtypes_of_results():
    """Whole numbers follow the standard: the dtypes alone decide. Numbers with fractions follow PyTorch."""
    scalar = crisol.asarray(1, dtype=crisol.int64)
    assert (scalar + crisol.ones((2,), dtype=crisol.uint8)).dtype is crisol.int64
    assert (crisol.ones((2,), dtype=crisol.uint8) + 1).dtype is crisol.uint8
    assert (of(1.0) * crisol.ones((2,), dtype=crisol.float16)).dtype is crisol.float16
    assert crisol.add(scalar, crisol.ones((2,), dtype=crisol.uint8)).dtype is crisol.uint8
    assert crisol.array_api.add(scalar, crisol.ones((2,), dtype=crisol.uint8)).dtype is crisol.int64


def test_foreign_operands():
    x = of([1, 2])
    same(np.float32(3) * x, [3, 6])
    same(x - np.int64(1), [0, 1])
    with pytest.raises(TypeError):
        x + "1"
    assert (x == "1") is False


@pytest.mark.parametrize("function", BINARY + COMPARISONS)
def test_operators_with_numpy_arrays(function):
    a, b = np.array([[1.5, 2.0], [4.0, 0.5]], np.float32), np.array([2.0, 0.75], np.float32)
    for result in (function(of(a), b), function(a, of(b)), function(of(a), b.astype(np.float64))):
        assert isinstance(result, crisol.Tensor)
        same(result, function(a, b))


@pytest.mark.parametrize("function", BITS)
def test_bits_with_numpy_arrays(function):
    a, b = np.array([5, -3, 12]), np.array([3, 6, -1])
    for result in (function(crisol.asarray(a), b), function(a, crisol.asarray(b))):
        assert isinstance(result, crisol.Tensor) and result.tolist() == function(a, b).tolist()


def test_products_with_numpy_arrays():
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 2), np.float32)
    for result in (of(a) @ b, a @ of(b)):
        assert isinstance(result, crisol.Tensor)
        same(result, a @ b)


def test_numpy_arrays_keep_the_gradient():
    x = of([1, 2]).requires_grad_()
    y = np.array([3, 4], np.float32) * x + np.ones(2) - np.array(0.5)
    y.sum().backward()
    assert y.requires_grad and x.grad.tolist() == [3, 4]


@pytest.mark.parametrize("function", IN_PLACE)
def test_in_place_with_a_numpy_array(function):
    a, b = np.array([6.0, 7.0, -8.0], np.float32), np.array([2.0, -3.0, 2.5], np.float32)
    x = of(a)
    assert function(x, b) is x
    same(x, function(a.copy(), b))


def test_numpy_arrays_without_a_dtype_are_refused():
    for array in (np.array(["1", "2"]), np.array([1j, 2j])):
        with pytest.raises(TypeError, match="no dtype"):
            of([1, 2]) + array
        with pytest.raises(TypeError, match="no dtype"):
            array * of([1, 2])


def test_alpha():
    x, y = of([1, 2]), of([10, 20])
    same(crisol.add(x, y, alpha=0.5), [6, 12])
    same(x.sub(y, alpha=2), [-19, -38])
    assert x.add_(y, alpha=-0.5) is x
    same(x, [-4, -8])
    assert crisol.sub(crisol.asarray([5]), crisol.asarray([1]), alpha=2).tolist() == [3]


def test_large_results_of_bfloat16_have_the_bits_of_small_ones():
    """Large results are computed in pairs of elements, on CPUs."""
    bits = crisol.arange(0, 1 << 16).to(crisol.uint16).view(crisol.bfloat16)
    small = bits * 1.25 + bits
    for rest in (0, 16, 37):
        x = crisol.cat([bits] * 80 + [bits[:rest]])
        y = x.clone()
        y *= 1.25
        for found in (y + x, crisol.add(x * 1.25, x, out=crisol.empty_like(x))):
            found = found.view(crisol.int16)
            assert (found[: 80 << 16].reshape(80, 1 << 16) == small.view(crisol.int16)).all()
            assert (found[80 << 16 :] == small[:rest].view(crisol.int16)).all()


@pytest.mark.parametrize("columns", [1 << 16, (1 << 16) - 16])
def test_large_rows_of_bfloat16_have_the_bits_of_small_ones(columns):
    """Rows of large results are computed in pairs too."""
    x = crisol.arange(0, 1 << 16).to(crisol.uint16).view(crisol.bfloat16)[:columns]
    x = crisol.where(crisol.isnan(x), 1.5, x)  # The sum of two NaN may have the bits of either.
    rows = crisol.arange(1, 81).to(crisol.bfloat16).unsqueeze(1)
    wide = crisol.cat([x, x]).expand(80, 2 * columns).contiguous()
    for found, right in (
        (x * rows, lambda i: x * (i + 1.0)),
        (wide[:, 1 : columns + 1] * rows + x, lambda i: wide[0, 1 : columns + 1] * (i + 1.0) + x),
        (wide[:, ::2] * rows, lambda i: wide[0, ::2] * (i + 1.0)),
    ):
        for i in (0, 1, 40, 79):
            assert (found[i].view(crisol.int16) == right(i).view(crisol.int16)).all(), i
