"""x[key] and x[key] = value against NumPy."""

import crisol
import numpy as np
import pytest
from numeric import array_of

SHAPE = (3, 5, 7)
I, J = np.array([2, 0, -1, 1]), np.array([[0, 4, -2, 3]])

KEYS = [
    0, -1, (1, 2), (1, 2, -3), ..., (), None, slice(None), slice(1, 3), slice(None, None, 2), slice(None, None, -1),
    slice(10, -20, -2), slice(4, 1), (..., 0), (0, ...), (slice(None), 1), (slice(None), None, slice(2, 5, 2)),
    (None, ..., None), (slice(None, None, -2), slice(None), slice(5, None, -3)), (-1, slice(1, None, 3), None, ...),
    I, (slice(None), I), (..., I), (I, J), (I, slice(None), J), (slice(None), I, J), (0, I),
    (I, 1), (slice(1, 3), I, slice(None, None, -1)), (None, I, slice(None), None), [1, 2], (slice(None), [0, 1]),
    np.array([], np.int64), (I[:, None], J), (..., I, None, J), range(2), (slice(None), range(4, 0, -2)), range(0),
    np.bool_(True), np.bool_(False),
]  # fmt: skip


def tensors_in(key):
    if isinstance(key, tuple):
        return tuple(tensors_in(entry) for entry in key)
    return crisol.asarray(key) if isinstance(key, np.ndarray) else key


def numbers():
    return np.arange(np.prod(SHAPE), dtype=np.int32).reshape(SHAPE)


def check(x, expected):
    assert x.shape == expected.shape
    np.testing.assert_array_equal(array_of(x), expected)


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_read(key):
    a = numbers()
    check(crisol.asarray(a)[tensors_in(key)], array_of(a[key]))


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_read_with_arrays_of_numpy(key):
    a = numbers()
    check(crisol.asarray(a)[key], array_of(a[key]))


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_write(key):
    part = numbers()[key]
    for value in (-1, np.arange(part.size, dtype=np.int32).reshape(part.shape) + 1000, part[:1] * 2 if part.ndim else 5):
        a = numbers()
        x = crisol.asarray(a)
        a[key] = value
        x[tensors_in(key)] = value if isinstance(value, int) else crisol.asarray(value)
        check(x, a)


@pytest.mark.parametrize("number", [1, np.array(1), np.int64(1)], ids=repr)
def test_a_number_selects_before_positions_are_read(number):  # As in PyTorch. NumPy would put the axis of I first.
    a = numbers()
    for key, expected in [((number, slice(None), I), a[1][:, I]), ((number, ..., I), a[1][:, I]),
                          ((I, number, J.reshape(4)), a[:, 1][I, J.reshape(4)]),
                          ((None, number, slice(1, 4), J), a[1][None, 1:4][..., J])]:  # fmt: skip
        x = crisol.asarray(a)
        check(x[tensors_in(key)], expected)
        check(x[key], expected)
        x[tensors_in(key)] = crisol.asarray(-expected)
        check(x[key], -expected)
        assert (array_of(x) != a).sum() == (np.unique(expected) != 0).sum()


def masks():
    a = numbers()
    full = a % 3 == 0
    return [full, ~full & False, full[:, :, 0], np.array([True, False, True]), (slice(None), full[0, :, 0]), (0, full[0]),
            (full[:, 0, 0], slice(None), I), (full[:, :, 0], 2), np.array(True), np.array(False), True, False,
            (..., full[0, 0])]  # fmt: skip


@pytest.mark.parametrize("mask", masks(), ids=lambda m: type(m).__name__)
def test_masks(mask):
    a = numbers()
    check(crisol.asarray(a)[tensors_in(mask)], a[mask])
    part = a[mask]
    for value in (-1, np.arange(part.size, dtype=np.int32).reshape(part.shape) + 1000):
        a = numbers()
        x = crisol.asarray(a)
        a[mask] = value
        x[tensors_in(mask)] = value if isinstance(value, int) else crisol.asarray(value)
        check(x, a)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 5), (0, 0, 0)])
def test_masks_without_elements(shape):
    x = crisol.asarray(numbers())
    mask = crisol.zeros(shape, dtype=crisol.bool)
    assert x[mask].shape == (0, *SHAPE[len(shape) :])
    x[mask] = 1
    check(x, numbers())


def test_views():
    x = crisol.asarray(numbers())
    y = x[1, ::2]
    y[...] = 0
    assert y.shares_storage_with(x) and x[1, ::2].sum().item() == 0


def test_values_are_cast():
    x = crisol.zeros((3,), dtype=crisol.int32)
    x[:2] = crisol.asarray([1.75, 2.5])
    x[2] = [7]
    assert x.tolist() == [1, 2, 7]


@pytest.mark.parametrize("key", [I, (I, I), (slice(None), I), (I, slice(2)), (..., I, None), np.array([True, False, True])])
def test_values_with_axes_of_size_1_in_front(key):
    a = numbers()
    value = np.arange(a[key].size, dtype=np.int32).reshape((1, 1, *a[key].shape)) + 1000
    x = crisol.asarray(a)
    a[key] = value
    x[tensors_in(key)] = crisol.asarray(value)
    check(x, a)


@pytest.mark.parametrize("key", [(I, I), (slice(None), I), (I, slice(2)), (..., np.array([True, False, True, False]))])
def test_writing_does_not_read_the_elements(key):
    def kernels(act):
        with crisol.Profile() as profile:
            act()
        return {row.kernel for row in profile.rows}

    x = crisol.zeros((3, 5, 4))
    key = tensors_in(key)
    reading = {kernel for kernel in kernels(lambda: x[key]) if kernel.startswith(("gather", "select"))}
    assert reading and not reading & kernels(lambda: x.__setitem__(key, 1))


def test_scalars():
    x = crisol.asarray(5)
    assert x[()].item() == 5 and x[...].item() == 5 and x[None].shape == (1,)
    x[()] = 6
    assert x.item() == 6
    for key in (0, slice(None)):
        with pytest.raises(IndexError):
            x[key]
    with pytest.raises(TypeError):
        len(x)
    with pytest.raises(TypeError):
        iter(x)


@pytest.mark.parametrize("key", [3, -4, (0, 5), (0, 0, 0, 0), "a", 1.0, (..., ...), np.array([1.0]), np.array([True])])
def test_wrong_keys(key):
    x = crisol.asarray(numbers())
    for act in (lambda: x[key], lambda: x.__setitem__(key, 0)):
        with pytest.raises(IndexError) as caught:
            act()
        assert isinstance(caught.value, crisol.Error)
    check(x, numbers())


def test_wrong_values():
    x = crisol.asarray(numbers())
    for key in (0, slice(None), I):
        with pytest.raises(ValueError):
            x[tensors_in(key)] = crisol.zeros((2,), dtype=crisol.int32)
    check(x, numbers())


def test_iteration_and_membership():
    x = crisol.asarray([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]] and len(x) == 2
    assert 3 in x and 5 not in x
    a, b = x
    assert b.tolist() == [3, 4]


def test_gradients():
    x = crisol.asarray([1.0, 2.0, 3.0]).requires_grad_()
    (x[crisol.asarray([0, 0, 2])] * crisol.asarray([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [11, 0, 100]


@pytest.mark.parametrize("key", [[0, 9], [0, -5], np.array([4]), np.array([[-5]], np.int32), np.array([7], np.uint8)])
def test_positions_from_the_host_are_checked(key):
    x = crisol.arange(4)
    for refused in (lambda: x[key], lambda: x.__setitem__(key, 5), lambda: crisol.zeros((2, 4, 3))[:, key]):
        with pytest.raises(IndexError, match="has 4 elements"):
            refused()
    assert x.tolist() == [0, 1, 2, 3]
    assert x[[3, -4]].tolist() == [3, 0] and x[np.array([True, False, False, True])].tolist() == [0, 3]
    assert crisol.zeros((4, 2))[..., [1, -2]].shape == (4, 2)


def test_lists_that_stand_for_tuples():
    """As in PyTorch, a list that holds lists, tensors or slices has an entry for each axis."""
    a = np.arange(24).reshape(2, 3, 4)
    x = crisol.asarray(a)
    rows, columns = crisol.tensor([0, 1]), crisol.tensor([2, 0])
    keys = (([[0, 1], [1, 1]], ([0, 1], [1, 1])), ([slice(None), 1], np.s_[:, 1]), ([Ellipsis, 0], np.s_[..., 0]))
    for key, same in keys:
        np.testing.assert_array_equal(np.asarray(x[key]), a[same])
    np.testing.assert_array_equal(np.asarray(x[[rows, columns]]), a[[0, 1], [2, 0]])
    np.testing.assert_array_equal(np.asarray(x[[1, 0]]), a[[1, 0]])
    x[[rows, columns]] = -1
    assert (x == -1).sum().item() == 8
