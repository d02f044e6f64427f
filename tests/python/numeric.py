"""References for tests: finite differences, and convolutions and losses in NumPy."""

import crisol
import numpy as np
from crisol import nn


def tensor(values, requires_grad=False):
    """A float32 tensor."""
    return crisol.asarray(np.asarray(values, dtype=np.float32)).requires_grad_(requires_grad)


def parameter(values):
    return nn.Parameter(tensor(values))


def array_of(x, dtype=None):
    """The elements of a tensor, also of one that requires a gradient, or another array."""
    return np.asarray(x.detach() if isinstance(x, crisol.Tensor) else x, dtype=dtype)


def assert_close(x, expected, rtol=1e-5, atol=1e-5):
    np.testing.assert_allclose(array_of(x), array_of(expected), rtol=rtol, atol=atol)


def check_gradients(function, *arrays, step=1e-2, tolerance=2e-2):
    """Compares the gradients of sum(function(…) · weights) with finite differences."""
    arrays = [np.asarray(a, dtype=np.float32) for a in arrays]
    random = np.random.default_rng(7)
    shape = function(*[tensor(a) for a in arrays]).shape
    weights = random.standard_normal(shape).astype(np.float32)

    def value(*xs):
        return np.sum(np.asarray(function(*[tensor(x) for x in xs]), dtype=np.float64) * weights)

    leaves = [tensor(a, requires_grad=True) for a in arrays]
    function(*leaves).backward(tensor(weights))
    for i, array in enumerate(arrays):
        numeric = np.zeros(array.shape)
        for place in np.ndindex(array.shape):
            moved = [[a.copy() for a in arrays] for _ in range(2)]
            moved[0][i][place] -= step
            moved[1][i][place] += step
            numeric[place] = (value(*moved[1]) - value(*moved[0])) / (2 * step)
        np.testing.assert_allclose(np.asarray(leaves[i].grad), numeric, rtol=tolerance, atol=tolerance)


def conv2d(x, weight, bias, stride=1, padding=0):
    """A convolution, window by window."""
    x = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)]).astype(np.float64)
    k, _, r, s = weight.shape
    height = (x.shape[2] - r) // stride + 1
    width = (x.shape[3] - s) // stride + 1
    y = np.empty((x.shape[0], k, height, width))
    for i in range(height):
        for j in range(width):
            window = x[:, :, i * stride : i * stride + r, j * stride : j * stride + s]
            y[:, :, i, j] = np.tensordot(window, weight, ([1, 2, 3], [1, 2, 3])) + bias
    return y


def log_softmax(x):
    x = np.asarray(x, dtype=np.float64)
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def of(values, dtype=crisol.float32):
    """A tensor of an element type."""
    return crisol.asarray(values, dtype=dtype)


def same(x, expected):
    """Asserts that the elements are equal but for rounding."""
    np.testing.assert_allclose(np.asarray(x), expected, rtol=1e-6)
