"""crisol.linalg against NumPy. The Array API suite tests shapes, dtypes and the names of results."""

import crisol
import numpy as np
import pytest
from crisol import linalg
from numeric import array_of, assert_close, check_gradients, tensor

RANDOM = np.random.default_rng(1)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def turned(x):
    return np.swapaxes(x, -1, -2)


@pytest.mark.parametrize("shape", [(3, 3), (2, 5, 3), (2, 3, 5), (40, 6)])
def test_svd(shape):
    x = normal(*shape)
    expected = np.linalg.svd(x, compute_uv=False)
    for full in (False, True):
        found = linalg.svd(tensor(x), full_matrices=full)
        u, s, vh = map(np.asarray, found)
        k = s.shape[-1]
        assert_close(found.S, expected, atol=1e-4)
        assert_close(u[..., :k] * s[..., None, :] @ vh[..., :k, :], x, atol=1e-4)
        assert u.shape[-1] == (shape[-2] if full else k)
    assert_close(linalg.svdvals(tensor(x)), expected, atol=1e-4)
    assert_close(linalg.pinv(tensor(x)), np.linalg.pinv(x), atol=1e-4)


@pytest.mark.parametrize("shape", [(3, 3), (2, 5, 3), (2, 3, 5)])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(shape, mode):
    x = normal(*shape)
    expected = np.linalg.qr(x, mode)
    found = linalg.qr(tensor(x), mode=mode)
    assert_close(found.R, expected.R, atol=1e-5)
    assert_close(found.Q, expected.Q, atol=1e-5)
    with pytest.raises(ValueError, match="raw"):
        linalg.qr(tensor(x), mode="raw")


def test_eigh():
    x = normal(3, 6, 6)
    x += turned(x)
    values, vectors = linalg.eigh(tensor(x))
    assert_close(values, np.linalg.eigvalsh(x), atol=1e-4)
    assert_close(linalg.eigvalsh(tensor(x)), values)
    v = array_of(vectors)
    assert_close(v * array_of(values)[:, None, :] @ turned(v), x, atol=1e-4)


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
@pytest.mark.parametrize("keepdims", [False, True])
def test_matrix_norm(ord, keepdims):
    x = normal(4, 3, 5)
    expected = np.linalg.norm(x, ord, axis=(-2, -1), keepdims=keepdims)
    assert_close(linalg.matrix_norm(tensor(x), ord=ord, keepdims=keepdims), expected, atol=1e-4)


def test_vector_norm_power_rank_trace():
    x = normal(3, 4, 4)
    for ord in (0, 1, 2, 3, np.inf, -np.inf):
        expected = np.linalg.vector_norm(x, axis=1, ord=ord)
        assert_close(linalg.vector_norm(tensor(x), axis=1, ord=ord), expected, atol=1e-5)
    assert_close(linalg.vector_norm(tensor(x)), np.linalg.norm(x.ravel()), atol=1e-4)
    for n in (0, 1, 5):
        assert_close(linalg.matrix_power(tensor(x), n), np.linalg.matrix_power(x, n), rtol=1e-4, atol=1e-3)
    low = tensor(normal(5, 2) @ normal(2, 5))
    assert int(linalg.matrix_rank(low)) == 2
    assert linalg.matrix_rank(tensor(np.stack([np.eye(3)] * 2)), rtol=tensor([0.5, 1.0])).tolist() == [3, 0]
    assert_close(linalg.trace(tensor(x), offset=1), np.trace(x, 1, -2, -1))
    assert linalg.trace(crisol.asarray([[1, 2], [3, 4]]), dtype=crisol.float32).dtype is crisol.float32
    sign, logabsdet = linalg.slogdet(tensor(x))
    assert_close(sign * crisol.exp(logabsdet), np.linalg.det(x), rtol=1e-3)


def test_gradients():
    x = normal(4, 3)
    check_gradients(linalg.svdvals, x)
    check_gradients(lambda a: linalg.qr(a).Q, x)
    check_gradients(lambda a: linalg.eigvalsh(crisol.matrix_transpose(a) @ a), x)
    check_gradients(linalg.pinv, x)


def test_errors():
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        linalg.eigh(crisol.ones((2, 3)))
    with pytest.raises(ValueError, match="int64"):
        linalg.svd(crisol.ones((2, 3), dtype=crisol.int64))
    with pytest.raises(ValueError, match="max"):
        linalg.matrix_norm(crisol.ones((2, 3)), ord="max")
