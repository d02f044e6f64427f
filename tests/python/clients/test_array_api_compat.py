"""array-api-compat, by which libraries find out whose array they have."""

import array_api_compat
import crisol
import numpy as np


def test_namespace_and_device():
    x = crisol.ones((2, 3))
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x, crisol.zeros(2)) is crisol.array_api
    assert array_api_compat.device(x) == x.device
    assert array_api_compat.size(x) == 6
    assert not array_api_compat.is_numpy_array(x)


def test_to_device():
    x = crisol.arange(4)
    moved = array_api_compat.to_device(x, x.device)
    assert np.array_equal(np.asarray(moved), np.arange(4))


def softmax(x, axis=-1):
    """A function as libraries write them: for any arrays of the standard."""
    xp = array_api_compat.array_namespace(x)
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True)


def test_a_function_for_any_arrays():
    x = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)
    np.testing.assert_allclose(np.asarray(softmax(crisol.asarray(x))), softmax(x), rtol=1e-6)
