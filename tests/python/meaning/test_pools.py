"""Pools that few programs use."""

import crisol
import crisol.nn.functional as F
import numpy as np
import pytest
from crisol import nn
from numeric import array_of, assert_close, check_gradients


def test_lp_pool3d():
    x = np.random.default_rng(1).random((2, 3, 4, 5, 6), dtype=np.float32)
    expected = np.zeros((2, 3, 2, 2, 3))
    for d, h, w in np.ndindex(2, 2, 3):
        window = x[:, :, 2 * d : 2 * d + 2, 2 * h : 2 * h + 2, 2 * w : 2 * w + 2]
        expected[:, :, d, h, w] = (window**3).sum((2, 3, 4)) ** (1 / 3)
    assert_close(nn.LPPool3d(3, 2)(crisol.asarray(x)), expected, 1e-4)


@pytest.mark.parametrize("axes", [2, 3])
def test_fractional_max_pool(axes):
    random = np.random.default_rng(axes)
    sizes, kernel, counts = (7, 6, 5)[:axes], (2, 3, 2)[:axes], (4, 3, 2)[:axes]
    x = random.normal(size=(2, 3, *sizes)).astype(np.float32)
    draws = random.random((2, 3, axes), dtype=np.float32)
    pool = F.fractional_max_pool2d if axes == 2 else F.fractional_max_pool3d
    values, places = pool(crisol.asarray(x), kernel, counts, return_indices=True, _random_samples=crisol.asarray(draws))

    def start(draw, size, window, count, i):
        step = np.float32((size - window) / (count - 1))
        return size - window if i == count - 1 else int((i + draw) * step) - int(draw * step)

    for n, c, *at in np.ndindex(2, 3, *counts):
        order = draws[n, c][::-1] if axes == 2 else draws[n, c]
        first = [start(order[i], sizes[i], kernel[i], counts[i], at[i]) for i in range(axes)]
        window = x[n, c][tuple(slice(f, f + k) for f, k in zip(first, kernel))]
        assert array_of(values)[(n, c, *at)] == window.max()
        assert x[n, c].ravel()[array_of(places)[(n, c, *at)]] == window.max()
    for given in (draws[0], draws):
        assert_close(pool(crisol.asarray(x[0]), kernel, counts, _random_samples=crisol.asarray(given)), values[0])
    check_gradients(lambda y: pool(y, kernel, counts, _random_samples=crisol.asarray(draws)), x, step=1e-3)
    layer = nn.FractionalMaxPool2d if axes == 2 else nn.FractionalMaxPool3d
    assert layer(kernel, output_ratio=0.5)(crisol.asarray(x)).shape[2:] == tuple(int(size * 0.5) for size in sizes)
    with pytest.raises(ValueError, match="output_size or output_ratio"):
        layer(kernel)
    with pytest.raises(crisol.InvalidArgumentError, match="do not fit"):
        pool(crisol.asarray(x), kernel, sizes)


def test_places_of_fractional_pools_are_rounded_toward_zero():
    x = crisol.arange(16.0).reshape(1, 1, 16, 1).expand(1, 1, 16, 16)
    draws = crisol.tensor([[[4.9624, -0.713]]])
    y = F.fractional_max_pool2d(x, 1, output_ratio=0.5, _random_samples=draws)
    assert y[0, 0, :, 0].tolist() == [0, 1, 3, 5, 8, 10, 12, 15]


def test_refusals_name_other_functions():
    for name, advice in (("ldl_factor", "lu_factor"), ("eig", "eigh"), ("eigvals", "eigh")):
        with pytest.raises(NotImplementedError, match=advice):
            getattr(crisol.linalg, name)(crisol.eye(3))


def test_functions_of_layers_take_float16():
    random = np.random.default_rng(5)
    x = random.normal(size=(2, 3, 6, 6)).astype(np.float16)
    w, b = random.normal(size=(4, 3, 3, 3)).astype(np.float16), random.normal(size=4).astype(np.float16)
    labels = crisol.asarray([1, 2])
    functions = (
        lambda x, w, b: F.conv2d(x, w, b, padding=1),
        lambda x, w, b: F.conv_transpose2d(x, w.transpose(0, 1), b),
        lambda x, w, b: F.max_pool2d(x, 2),
        lambda x, w, b: F.max_pool2d(x, 2, return_indices=True)[0],
        lambda x, w, b: F.avg_pool2d(x, 2, padding=1),
        lambda x, w, b: F.adaptive_avg_pool2d(x, (2, 5)),
        lambda x, w, b: F.linear(x, w[:, 0, 0].repeat(1, 2)),
        lambda x, w, b: F.mse_loss(x, x * 2),
        lambda x, w, b: F.cross_entropy(x[:, :, 0, 0], labels),
        lambda x, w, b: F.nll_loss(x[:, :, 0, 0], labels),
    )
    for function in functions:
        found = function(*map(crisol.asarray, (x, w, b)))
        expected = function(*(crisol.asarray(a.astype(np.float32)) for a in (x, w, b)))
        assert found.dtype == crisol.float16
        assert_close(found.to(crisol.float32), expected, 2e-3, 2e-3)
    half = crisol.asarray(x).requires_grad_()
    F.max_pool2d(half, 2).sum().backward()
    assert half.grad.dtype == crisol.float16 and half.grad.sum().item() == 2 * 3 * 9


def test_linear_of_whole_numbers():
    x, w = np.array([[1, 2], [3, -4]]), np.array([[5, 6], [7, 8], [-1, 0]])
    found = F.linear(crisol.asarray(x), crisol.asarray(w), crisol.asarray([1, 2, 3]))
    assert found.dtype == crisol.int64
    np.testing.assert_array_equal(array_of(found), x @ w.T + [1, 2, 3])


def test_linear_of_one_output():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert_close(F.linear(crisol.asarray(x), crisol.asarray(x[1]), crisol.tensor(2.0)), x @ x[1] + 2)
    assert crisol.special.ndtri(crisol.tensor([0, 1], dtype=crisol.uint8)).tolist() == [-np.inf, np.inf]
    assert crisol.linalg.vander(crisol.tensor([2, 3], dtype=crisol.uint8)).dtype == crisol.int64


def test_fractions_of_whole_ranges():
    # PyTorch counts with the fractions, and computes the elements without them.
    assert crisol.arange(-0.9, 2.1, 2.0, dtype=crisol.int64).tolist() == [0, 2]
    assert crisol.linspace(4.3, -3, 50, dtype=crisol.int64)[:3].tolist() == [4, 3, 3]
    x = crisol.ones((2, 3))
    assert crisol.diff(x, 0, 0, crisol.ones((1, 3))).shape == (2, 3)


WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("name", WHOLE)
def test_convolutions_and_pools_of_whole_numbers(name):
    dtype = getattr(crisol, name)
    x = np.array([[3, 1, 2, 3], [0, 3, 3, 1], [2, 0, 1, 2]])
    w = np.array([[1, 2], [3, 1]])
    planes, filters = (crisol.asarray(a.astype(name)).reshape(1, 1, *a.shape) for a in (x, w))
    found = F.conv2d(planes, filters, crisol.tensor([1], dtype=dtype))
    expected = sum(w[r, s] * x[r : r + 2, s : s + 3] for r in (0, 1) for s in (0, 1)) + 1
    assert found.dtype == dtype and found[0, 0].tolist() == expected.tolist()
    found = F.conv_transpose2d(planes, filters)
    expected = np.zeros((4, 5), int)
    for r in (0, 1):
        for s in (0, 1):
            expected[r : r + 3, s : s + 4] += w[r, s] * x
    assert found.dtype == dtype and found[0, 0].tolist() == expected.tolist()
    values, positions = F.max_pool2d(planes, 2, 1, return_indices=True)
    assert values.dtype == dtype and values[0, 0].tolist() == [[3, 3, 3], [3, 3, 3]]
    assert positions[0, 0].tolist() == [[0, 5, 3], [5, 5, 6]]
    means = F.avg_pool2d(planes, 2)
    assert means.dtype == dtype and means[0, 0].tolist() == [[7 // 4, 9 // 4]]
    assert F.max_pool1d(planes[0, 0], 3, 1).tolist() == [[3, 3], [3, 3], [2, 2]]


def test_means_of_negative_whole_numbers_drop_the_fraction():
    assert F.avg_pool1d(crisol.tensor([[[-3, 0, 3, 0]]]), 2).tolist() == [[[-1, 1]]]


def test_adaptive_max_pool_takes_the_first_of_equal_elements():
    x = crisol.tensor([[[0.0, 2, 2], [2, 0, 0], [2, 1, 0]]])
    assert F.adaptive_max_pool2d(x, 1, True)[1].item() == 1
    assert F.adaptive_max_pool3d(x.unsqueeze(0), 1, True)[1].item() == 1
    x = crisol.zeros((1, 4, 4, 4))
    assert F.adaptive_max_pool3d(x, 2, True)[1].flatten().tolist() == [0, 2, 8, 10, 32, 34, 40, 42]


def test_powers_of_whole_numbers():
    rows = crisol.tensor([[1, 1], [1, 0]])
    assert crisol.linalg.matrix_power(rows, 14).tolist() == [[610, 377], [377, 233]]
    assert crisol.vander(crisol.tensor([100, 3], dtype=crisol.uint8), 3).tolist() == [[10000, 100, 1], [9, 3, 1]]
    assert crisol.vander(crisol.tensor([True, False])).tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("name", WHOLE)
def test_logit_of_whole_numbers(name):
    found = crisol.logit(crisol.tensor([0, 1, 2], dtype=getattr(crisol, name)))
    np.testing.assert_array_equal(array_of(found), np.float32([-np.inf, np.inf, np.nan]))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_interpolate_of_bytes_is_rounded(mode):
    x = np.random.default_rng(4).integers(0, 256, (1, 2, 5, 7))
    exact = F.interpolate(crisol.asarray(x.astype(np.float32)), size=(9, 4), mode=mode)
    found = F.interpolate(crisol.asarray(x.astype(np.uint8)), size=(9, 4), mode=mode)
    assert found.dtype == crisol.uint8
    np.testing.assert_array_equal(array_of(found), np.clip(np.floor(array_of(exact) + 0.5), 0, 255))


def test_square_of_bool_is_int64():
    found = crisol.square(crisol.tensor([True, False]))
    assert found.dtype == crisol.int64 and found.tolist() == [1, 0]


def test_log_ndtr_of_uint64():
    assert_close(crisol.special.log_ndtr(crisol.tensor([0], dtype=crisol.uint64)), [np.log(0.5)])
