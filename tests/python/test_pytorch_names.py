"""Functions of crisol that take PyTorch's arguments too."""

import crisol
import numpy as np
import pytest
from numeric import array_of


def test_dim_is_axis():
    x = crisol.asarray(np.random.default_rng(0).permutation(24).reshape(2, 3, 4).astype(np.float32))
    index = crisol.asarray([[[0, 1, 1, 0]]])
    one = crisol.asarray([1])
    for name, arguments, axis in [
        ("squeeze", (x[:, :1],), 1), ("flip", (x,), 1), ("roll", (x, 1), 2), ("split", (x, 2), 2), ("chunk", (x, 2), 2),
        ("cumsum", (x,), 1), ("cumprod", (x,), 1), ("cumulative_sum", (x,), 1), ("softmax", (x,), 1),
        ("log_softmax", (x,), 1), ("sort", (x,), 1), ("argsort", (x,), 0), ("topk", (x, 2), 1),
        ("max_with_indices", (x,), 1), ("concat", ([x, x],), 2), ("cat", ([x, x],), 2), ("stack", ([x, x],), 1),
    ]:  # fmt: skip
        function = getattr(crisol, name)
        same_results(function(*arguments, axis=axis), function(*arguments, dim=axis))
        if hasattr(crisol.Tensor, name):
            same_results(function(*arguments, axis=axis), getattr(arguments[0], name)(*arguments[1:], dim=axis))
    for name, extra in [
        ("gather", {"index": index}), ("index_select", {"index": one}), ("scatter", {"index": index, "src": x}),
        ("scatter_add", {"index": index, "src": x}), ("index_add", {"index": one, "src": x[:, :1]}),
        ("index_copy", {"index": one, "src": x[:, :1]}),
    ]:  # fmt: skip
        function, method = getattr(crisol, name), getattr(x, name)
        same_results(function(x, axis=1, **extra), function(x, dim=1, **extra))
        same_results(function(x, 1, **extra), method(dim=1, **extra))
    assert x.unsqueeze(dim=1).shape == (2, 1, 3, 4) and x.select(dim=1, index=2).shape == (2, 4)
    assert x.narrow(dim=2, start=1, length=2).shape == (2, 3, 2)


def same_results(a, b):
    pairs = [(a, b)] if isinstance(a, crisol.Tensor) else zip(a, b, strict=True)
    for one, other in pairs:
        np.testing.assert_array_equal(array_of(one), array_of(other))


def test_scatter_with_a_reduction():
    x, src = crisol.asarray([[1.0, 2.0, 3.0]]), crisol.asarray([[10.0, -20.0, 0.5]])
    index = crisol.asarray([[0, 0, 2]])
    for reduce, expected in [
        ("sum", [-9, 2, 3.5]), ("prod", [-200, 2, 1.5]), ("amax", [10, 2, 3]), ("amin", [-20, 2, 0.5])
    ]:  # fmt: skip
        assert crisol.scatter_reduce(x, 1, index, src, reduce).tolist() == [expected]
        assert x.scatter_reduce(dim=1, index=index, src=src, reduce=reduce).tolist() == [expected]
        assert crisol.index_reduce(x, 1, index[0], src, reduce).tolist() == [expected]
    assert crisol.scatter_nd(x, crisol.asarray([[0, 1]]), crisol.asarray([7.0])).tolist() == [[1, 7, 3]]
    assert x.scatter_nd(crisol.asarray([[0, 1]]), crisol.asarray([7.0]), "sum").tolist() == [[1, 9, 3]]
    assert x.scatter_reduce(1, index, src, "mean").tolist() == [[-3, 2, 1.75]]
    assert x.scatter_reduce(1, index, src, "amax", include_self=False).tolist() == [[10, 2, 0.5]]
    with pytest.raises(ValueError, match="reduce is 'median'"):
        x.scatter_reduce(1, index, src, "median")


def test_randint_from_zero():
    x = crisol.randint(5, (1000,))
    assert x.dtype is crisol.int64 and sorted(set(x.tolist())) == [0, 1, 2, 3, 4]
    assert crisol.randint(2, (3,), dtype=crisol.int32).dtype is crisol.int32
