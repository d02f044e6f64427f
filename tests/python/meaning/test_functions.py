"""Functions and methods of crisol mean what they mean in PyTorch. The right values are NumPy's, or PyTorch's written down."""

import math
import warnings

import crisol
import numpy as np
import pytest
from numeric import array_of, check_gradients

A = np.array([[1.5, -2.0, 0.25, 4.0], [0.0, 3.0, -1.0, 3.0], [2.0, 2.0, 5.0, -3.5]], np.float32)
I = np.array([[3, 0], [1, 2], [0, 0]])


@pytest.fixture
def x():
    return crisol.asarray(A)


def same(found, wanted, **tolerance):
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(array_of(found), wanted, **({"rtol": 1e-5, "atol": 1e-6} | tolerance))


def test_extremes(x):
    values, indices = x.max(1)
    same(values, A.max(1))
    assert indices.tolist() == [3, 1, 2]
    assert x.max(dim=0, keepdim=True).values.shape == (1, 4) and x.min(axis=1)[1].tolist() == [1, 2, 3]
    same(crisol.max(x, 1 - x), np.maximum(A, 1 - A))
    same(x.amax((0, 1), keepdim=True), A.max(keepdims=True))
    assert x.max().item() == 5 and [v.item() for v in x.aminmax()] == [-3.5, 5]
    with pytest.raises(TypeError, match=r"amax\(\) takes several axes"):
        x.max((0, 1))
    with pytest.raises(AttributeError, match=r"\(values, indices\)"):
        x.max(1).sum()
    with pytest.raises(TypeError, match=r"\(values, indices\)"):
        x.sort() * 2


def test_order(x):
    values, indices = x.sort(dim=1, descending=True)
    same(values, -np.sort(-A, 1))
    same(crisol.gather(x, 1, indices), values)
    assert crisol.topk(x, 2, dim=1, largest=False).indices.tolist() == [[1, 2], [2, 0], [3, 0]]
    assert x.kthvalue(2).values.tolist() == [0.25, 0, 2] and x.median().item() == 1.5
    assert x.median(1).values.tolist() == [0.25, 0, 2] and x.mode(1).values.tolist() == [-2, 3, 2]
    assert crisol.tensor([1, 2, 2, 1, 3]).mode().indices.item() == 3
    same(x.cummax(1).values, np.maximum.accumulate(A, 1))
    assert x.cummin(1).indices.tolist() == [[0, 1, 1, 1], [0, 0, 2, 2], [0, 1, 1, 3]]
    same(x.logcumsumexp(1), np.log(np.cumsum(np.exp(A), 1)))
    same(
        crisol.searchsorted(crisol.tensor([[1.0, 2.0], [3.0, 4.0]]), crisol.tensor([[2.0], [2.0]]), right=True),
        [[2], [0]],
    )
    assert crisol.bucketize(crisol.tensor([1.0, 2.5]), crisol.tensor([1.0, 2.0])).tolist() == [0, 2]


def test_numbers_beside_tensors_have_the_dtype_of_the_tensor():
    """0.1 of float32 is another number than 0.1 of float64. A whole number that the dtype does not have is kept."""
    for name in ("float16", "bfloat16", "float32", "float64"):
        x = crisol.tensor([0.1], dtype=getattr(crisol, name))
        assert crisol.isin(x, 0.1).tolist() == [True] and crisol.isin(0.1, x).item() is True
        assert crisol.searchsorted(x, 0.1).item() == 0 and crisol.searchsorted(x, 0.1, right=True).item() == 1
    large = crisol.tensor([1, 2**63 + 5], dtype=crisol.uint64)
    assert crisol.isin(large, 2**63 + 5).tolist() == [False, True] and crisol.searchsorted(large, 2**63 + 5).item() == 1
    small = crisol.tensor([1, 44], dtype=crisol.uint8)
    assert crisol.isin(small, 300, invert=True).tolist() == [True, True] and crisol.searchsorted(small, 300).item() == 2


def test_nan_is_kept_or_left_out():
    nan = crisol.tensor([[1.0, float("nan"), 3.0], [4.0, 6.0, 5.0]])
    assert math.isnan(nan.median().item()) and nan.nanmedian().item() == 4
    assert nan.nansum().item() == 19 and nan.nanmean(1).tolist() == [2, 5]
    assert math.isnan(nan.quantile(0.5).item()) and nan.nanquantile(0.5, dim=1).tolist() == [2, 5]
    assert nan.cummax(1).values[1].tolist() == [4, 6, 6] and math.isnan(nan.cummax(1).values[0, 2].item())
    assert nan.nan_to_num(nan=-1.0)[0].tolist() == [1, -1, 3]


def test_deviations(x):
    same(x.std(), A.std(ddof=1))
    same(x.var(1), A.var(1, ddof=1))
    same(crisol.std(x, dim=0, unbiased=False), A.std(0))
    same(x.std(False), A.std())
    same(x.var(0, correction=2), A.var(0, ddof=2))
    spread, mean = crisol.std_mean(x, 1)
    same(spread, A.std(1, ddof=1)), same(mean, A.mean(1))
    same(crisol.array_api.std(x), A.std())


@pytest.mark.parametrize("way", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles(x, way):
    same(x.quantile(0.3, interpolation=way), np.quantile(A, 0.3, method=way))
    levels = np.array([0.1, 0.75], np.float32)
    same(x.quantile(crisol.asarray(levels), dim=1, keepdim=True, interpolation=way),
         np.quantile(A, levels, axis=1, keepdims=True, method=way))  # fmt: skip


def test_norms(x):
    same(x.norm(), np.linalg.norm(A))
    same(x.norm(1), np.abs(A).sum())
    same(x.norm(p=math.inf, dim=1, keepdim=True), np.abs(A).max(1, keepdims=True))
    same(crisol.linalg.norm(x), np.linalg.norm(A))
    same(crisol.linalg.norm(x, 1), np.linalg.norm(A, 1))
    same(crisol.linalg.norm(x, 2, dim=1), np.linalg.norm(A, axis=1))
    same(crisol.linalg.matrix_norm(x.reshape(3, 2, 2), dim=(0, 2), keepdim=True).reshape(2),
         np.linalg.norm(A.reshape(3, 2, 2), axis=(0, 2)))  # fmt: skip
    same(crisol.dist(x, 1 - x), np.linalg.norm(2 * A - 1))
    same(crisol.cdist(x, x[:2]), np.linalg.norm(A[:, None] - A[None, :2], axis=2))


def test_places(x):
    assert crisol.nonzero(x < 0).tolist() == np.argwhere(A < 0).tolist() == x.lt(0).argwhere().tolist()
    assert [p.tolist() for p in (x < 0).nonzero(as_tuple=True)] == [p.tolist() for p in np.nonzero(A < 0)]
    assert [p.tolist() for p in crisol.where(x < 0)] == [p.tolist() for p in np.nonzero(A < 0)]
    assert crisol.tensor(3.0).nonzero().shape == (1, 0)
    values, inverse, counts = crisol.unique(x, return_inverse=True, return_counts=True)
    same(values, np.unique(A))
    same(values[inverse], A)
    assert counts.tolist() == np.unique(A, return_counts=True)[1].tolist()
    line = crisol.tensor([1, 1, 2, 1, 1, 1])
    values, inverse, counts = line.unique_consecutive(return_inverse=True, return_counts=True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 1], [0, 0, 1, 2, 2, 2], [2, 1, 3])
    assert x.take(crisol.tensor([[0, 5], [-1, 2]])).tolist() == [[1.5, 3], [-3.5, 0.25]]
    assert crisol.bincount(crisol.tensor([1, 3, 1]), minlength=6).tolist() == [0, 2, 0, 1, 0, 0]
    same(crisol.histc(x, 4), np.histogram(A, 4)[0])


def test_equal_compares_tensors(x):
    assert crisol.equal(x, x.clone()) is True and x.equal(x + 1) is False and not crisol.equal(x, x[:1])
    assert crisol.array_api.equal(x, x).shape == x.shape


def test_meshgrid_and_diagonals(x):
    a, b = crisol.arange(3), crisol.arange(2)
    assert crisol.meshgrid(a, b)[0].shape == (3, 2) and crisol.meshgrid([a, b], indexing="xy")[0].shape == (2, 3)
    assert crisol.array_api.meshgrid(a, b)[0].shape == (2, 3)
    batch = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    same(crisol.diagonal(crisol.asarray(batch)), np.diagonal(batch))
    same(crisol.linalg.diagonal(crisol.asarray(batch), offset=1), np.diagonal(batch, 1, 1, 2))
    same(crisol.diag(x[0], 1), np.diag(A[0], 1))
    same(x[0].diag(-2), np.diag(A[0], -2))
    same(crisol.diag_embed(x, dim1=0, dim2=2), np.moveaxis(np.stack([np.diag(r) for r in A]), (1, 2), (0, 2)))
    same(crisol.triu(x, diagonal=1), np.triu(A, 1))
    assert crisol.tril_indices(2, 3).tolist() == [[0, 1, 1], [0, 0, 1]]


def test_scatter_with_numbers_and_larger_sources(x):
    index = crisol.asarray(I)
    wanted = np.zeros((3, 4))
    np.put_along_axis(wanted, I, 1.0, 1)
    same(crisol.zeros(3, 4).scatter_(1, index, 1.0), wanted)
    same(crisol.scatter(crisol.zeros(3, 4), 1, index, value=1.0), wanted)
    added = np.zeros((3, 4), np.float32)
    for row in range(3):
        for column in range(2):
            added[row, I[row, column]] += A[row, column]
    same(crisol.zeros(3, 4).scatter_add_(1, index, x), added)
    assert x.index_fill(1, crisol.tensor([0]), 9.0)[:, 0].tolist() == [9, 9, 9]
    assert x.index_add(0, crisol.tensor([0, 0]), x[1:], alpha=2)[0].tolist() == [5.5, 8.0, 8.25, 3.0]
    mask = x > 2
    assert x.masked_scatter(mask, crisol.arange(9.0))[mask].tolist() == [0, 1, 2, 3]
    put = x.index_put((crisol.tensor([0, 0]), crisol.tensor([1, 1])), crisol.tensor([1.0, 2.0]), accumulate=True)
    assert put[0, 1].item() == 1


def test_arrangement(x):
    assert [p.shape for p in x.split([1, 3], dim=1)] == [(3, 1), (3, 3)] and isinstance(x.chunk(2, 1), tuple)
    assert [p.shape[0] for p in crisol.tensor_split(crisol.arange(7), 3)] == [3, 2, 2]
    same(crisol.rot90(x), np.rot90(A)), same(x.rot90(-1), np.rot90(A, -1)), same(x.flip(0, 1), A[::-1, ::-1])
    same(x.roll(shifts=(1, 2), dims=(0, 1)), np.roll(A, (1, 2), (0, 1)))
    same(crisol.hstack([x[0], x[1]]), np.hstack([A[0], A[1]])), same(crisol.vstack([x[0], x]), np.vstack([A[0], A]))
    same(crisol.kron(x[:2], x[1]), np.kron(A[:2], A[1]))
    same(x.unfold(1, 2, 2), np.stack([A[:, :2], A[:, 2:]], 1))
    same(crisol.block_diag(x, x[0]), np.block([[A, np.zeros((3, 4))], [np.zeros((1, 4)), A[:1]]]))
    assert crisol.combinations(crisol.arange(3)).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert crisol.cat((x, x), dim=1).shape == (3, 8) and crisol.stack([x, x], dim=-1).shape == (3, 4, 2)


def test_keywords_of_creation(x):
    made = crisol.zeros(size=(2, 3), requires_grad=True, device="cpu")
    assert made.requires_grad and made.shape == (2, 3)
    assert crisol.randn(2, 3, dtype=crisol.float16).dtype is crisol.float16 and crisol.rand_like(x).shape == x.shape
    assert crisol.arange(1, end=7, step=2).tolist() == [1, 3, 5] and crisol.linspace(0, 1, steps=3).tolist() == [
        0,
        0.5,
        1,
    ]
    assert crisol.randint(0, 5, size=(3,)).shape == crisol.randint(high=5, size=(3,)).shape == (3,)
    assert crisol.logspace(0, 2, 3).tolist() == [1, 10, 100] and crisol.tensor([x[0, 0], 2.0]).tolist() == [1.5, 2]
    assert x.new_zeros(2).dtype is x.dtype and x.new_full((1,), 3).tolist() == [3]
    assert crisol.bernoulli(crisol.ones(3)).tolist() == [1, 1, 1] and crisol.multinomial(crisol.ones(4), 2).shape == (
        2,
    )
    out = crisol.empty(3, 4)
    assert crisol.add(x, 1, out=out) is out and out.tolist() == (A + 1).tolist()
    with pytest.raises(ValueError, match="out"):
        crisol.add(x, 1, out=crisol.empty(2))


def test_elements(x):
    same(x.clamp(min=0), np.maximum(A, 0)), same(crisol.clamp(x, max=crisol.tensor(1.0)), np.minimum(A, 1))
    whole = np.array([-7, 7, 6, -6])
    for mode, right in (("floor", whole // 4), ("trunc", np.trunc(whole / 4))):
        same(crisol.div(crisol.asarray(whole), 4, rounding_mode=mode), right)
    assert crisol.round(crisol.tensor([1.25, 2.349]), decimals=1).tolist() == pytest.approx([1.2, 2.3])
    (
        same(x.frac(), A - np.trunc(A)),
        same(x.sinc(), np.sinc(A)),
        same(crisol.heaviside(x, crisol.tensor(0.5)), np.heaviside(A, 0.5)),
    )
    assert crisol.gcd(crisol.tensor([12, -9]), crisol.tensor([18, 6])).tolist() == [6, 3]
    assert crisol.lcm(crisol.tensor([4]), crisol.tensor([6])).item() == 12
    points = np.array([-0.999, -0.5, 0.0, 0.3, 0.9999], np.float32)
    same(crisol.erf(crisol.asarray(points).erfinv()), points)
    same(crisol.add(x, x, alpha=3), 4 * A), same(crisol.add(x, 2, alpha=3), A + 6)
    same(crisol.xlogy(x.relu(), x.relu()), np.where(A > 0, A * np.log(np.maximum(A, 1e-9)), 0))


def test_xlogy_at_zero():
    x = crisol.tensor([0.0, 0.0, 0.0, 0.0, 2.0], requires_grad=True)
    y = crisol.tensor([4.0, 0.0, -1.0, math.inf, 4.0])
    crisol.xlogy(x, y).sum().backward()
    same(crisol.xlogy(x, y), [0, 0, 0, 0, 2 * math.log(4)])
    same(x.grad, [math.log(4), 0, 0, 0, math.log(4)])
    assert math.isnan(crisol.xlogy(0.0, crisol.tensor(math.nan)))
    z = crisol.tensor([0.0, 0.0], requires_grad=True)
    crisol.special.xlog1py(z, crisol.tensor([4.0, -1.0])).sum().backward()
    same(z.grad, [math.log(5), 0])


def test_shrinking_keeps_nan():
    def above(x):
        return crisol.nn.functional.threshold(x, 0.5, 0.0) + crisol.threshold(-x, 0.5, 0.0) * -1

    x = crisol.tensor([math.nan, -2.0, -0.5, 0.0, 0.5, math.inf], requires_grad=True)
    functions = crisol.nn.functional
    for shrink, right in ((functions.softshrink, -1.5), (functions.hardshrink, -2.0), (above, -2.0)):
        x.grad = None
        y = shrink(x)
        y.sum().backward()
        same(y, [math.nan, right, 0, 0, 0, math.inf])
        same(x.grad, [2 if shrink is above else 1, 1, 0, 0, 0, 1])


def test_rrelu_has_the_left_slope_at_zero():
    x = crisol.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    crisol.nn.functional.rrelu(x, 0.25, 0.25).sum().backward()
    same(x.grad, [0.25, 0.25, 1])
    x.grad = None
    crisol.nn.functional.rrelu(x, 0.25, 0.25, training=True).sum().backward()
    same(x.grad, [0.25, 0.25, 1])


def test_gradients_of_composed_functions():
    values = (A / 3 + 0.05 * np.arange(12).reshape(3, 4)).astype(np.float32)
    check_gradients(lambda t: t.std(1), values)
    check_gradients(lambda t: t.cummax(1).values, values)
    check_gradients(lambda t: t.quantile(0.3, dim=1), values)
    check_gradients(lambda t: t.unfold(1, 2, 1), values)
    check_gradients(lambda t: crisol.kron(t, t[:1]), values)
    check_gradients(lambda t: crisol.linalg.matrix_exp(t[:, :3] * 0.3), values)
    check_gradients(lambda t: t.tanh().erfinv(), values / 2)


def test_linear_algebra():
    m = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]], np.float32)
    t, b = crisol.asarray(m), crisol.asarray(A)
    same(crisol.linalg.solve(t, b), np.linalg.solve(m, A), atol=1e-5)
    same(crisol.cholesky_solve(b, crisol.linalg.cholesky(t)), np.linalg.solve(m, A), atol=1e-5)
    same(crisol.linalg.solve_triangular(t, b, upper=True), np.linalg.solve(np.triu(m), A), atol=1e-5)
    same(
        crisol.linalg.lstsq(b.T, crisol.ones(4, 1)).solution,
        np.linalg.lstsq(A.T, np.ones((4, 1)), rcond=None)[0],
        atol=1e-4,
    )
    same(crisol.addmm(b[:, :3], b[:, :3], t, beta=2, alpha=0.5), 2 * A[:, :3] + 0.5 * A[:, :3] @ m, atol=1e-5)
    same(crisol.bmm(t[None], t[None])[0], m @ m, atol=1e-5), same(t.inverse() @ t, np.eye(3), atol=1e-5)
    same(crisol.cov(b), np.cov(A), atol=1e-5), same(crisol.corrcoef(b), np.corrcoef(A), atol=1e-5)
    with pytest.raises(ValueError, match="mm.*two matrices"):
        crisol.mm(t[None], t)


def test_members(x):
    assert x.size() == (3, 4) and x.size(1) == 4 and x.size == 12 and x.size().numel() == 12
    assert x.stride() == (4, 1) and x.stride(0) == 4 and x.element_size() == 4 and x.type() == "crisol.FloatTensor"
    assert x.type_as(crisol.tensor([1])).dtype is crisol.long and x.expand_as(x).shape == x.shape and not x.is_complex()
    assert x.cpu() is x and x.grad_fn is None and (x.requires_grad_() * 2).grad_fn is not None
    parameter = crisol.nn.Parameter(crisol.ones(2))
    parameter.data = crisol.zeros(2)
    assert parameter.tolist() == [0, 0] and parameter.requires_grad
    y = crisol.ones(2, 3)
    assert y.t_() is y and y.shape == (3, 2) and y.unsqueeze_(0).shape == (1, 3, 2) and y.squeeze_(0).shape == (3, 2)
    assert crisol.float is crisol.float32 and crisol.long is crisol.int64 and isinstance(crisol.ones(1), crisol.Tensor)
    limits = "resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05, tiny=6.10352e-05"
    assert repr(crisol.finfo(crisol.float16)) == f"finfo({limits}, dtype=float16)"
    assert repr(crisol.iinfo(crisol.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
    assert crisol.narrow_copy(x, 0, 1, 2).tolist() == x[1:3].tolist() and x.hardshrink(9).tolist() == (x * 0).tolist()
    assert crisol.finfo(crisol.float32).tiny == 2.0**-126 and crisol.is_tensor(x) and crisol.is_floating_point(x)
    state = crisol.get_rng_state()
    first = crisol.rand(3).tolist()
    crisol.set_rng_state(state)
    assert crisol.rand(3).tolist() == first


def test_an_old_meaning_is_told_once(x):
    from crisol import _method

    _method._told.clear()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            x.std(), crisol.nonzero(x), crisol.unique(x), crisol.meshgrid(x[0], x[1]), crisol.equal(x, x), x.norm(1)
        x.std(unbiased=True), x.nonzero(as_tuple=True), crisol.unique(x, return_counts=True)
    names = [str(w.message).partition("(")[0] for w in told if w.category is FutureWarning]
    assert sorted(names) == ["equal", "meshgrid", "nonzero", "norm", "std", "unique"]
    assert all(w.filename == __file__ for w in told)


def test_equal_elements_share_the_gradient_of_a_median():
    """The values are PyTorch's."""
    for function in (crisol.median, crisol.nanmedian):
        for values, median, slopes in (
            ([2.0, 5.0, 2.0, 2.0, 7.0], 2.0, [1 / 3, 0.0, 1 / 3, 1 / 3, 0.0]),
            ([-0.0, 0.0, 1.0, -1.0], 0.0, [0.5, 0.5, 0.0, 0.0]),
            ([[3.0, math.inf], [math.inf, math.inf]], math.inf, [[0.0, 1 / 3], [1 / 3, 1 / 3]]),
        ):
            x = crisol.tensor(values, requires_grad=True)
            y = function(x)
            y.backward()
            assert y.item() == median and np.allclose(x.grad.numpy(), slopes)
    x = crisol.tensor([1.0, math.nan, 3.0], requires_grad=True)
    y = x.median()
    y.backward()
    assert math.isnan(y.item()) and x.grad.tolist() == [0.0, 1.0, 0.0]


def test_sums_with_a_dtype_convert_first():
    x = crisol.tensor([1.7, 2.7, -1.5], dtype=crisol.float64)
    assert x.sum(dtype=crisol.int64).item() == 2 and x.prod(dtype=crisol.int64).item() == -2
    assert x.sum(0, dtype=crisol.int16).item() == 2 and crisol.nansum(x, dtype=crisol.int32).item() == 2
    halves = crisol.tensor([0.75] * 4)
    assert halves.sum(dtype=crisol.int8).item() == 0
    signs = crisol.tensor([1, -1])
    assert signs.sum(dtype=crisol.bool).item() is True and (signs * 2).prod(dtype=crisol.bool).item() is True
    assert crisol.tensor([100, 100, 100], dtype=crisol.int8).sum(dtype=crisol.int8).item() == 44


def test_functions_with_fractions_of_whole_numbers():
    for dtype in (crisol.int8, crisol.int32, crisol.uint32, crisol.uint64):
        found = crisol.erfinv(crisol.tensor([0, 1, 3, 100]).to(dtype))
        assert found.dtype == crisol.float32
        np.testing.assert_array_equal(found.numpy(), [0, np.inf, np.nan, np.nan])
    assert crisol.erfinv(crisol.tensor([True, False])).tolist() == [math.inf, 0]
    for dtype in (crisol.float64, crisol.float16, crisol.bfloat16):
        x, whole = crisol.ones(3, dtype=dtype), crisol.full((1,), 3)
        for found in (crisol.xlogy(x, whole), crisol.special.xlog1py(x, whole - 1)):
            assert found.dtype == dtype
            same(found.double(), [math.log(3)] * 3, rtol=2.0**-8 if dtype == crisol.bfloat16 else 1e-3)
        assert crisol.xlogy(whole, x * 2).dtype == dtype
    same(crisol.xlogy(crisol.ones(1, dtype=crisol.float64), crisol.tensor([3])), [math.log(3)], rtol=1e-14)
    mixed = crisol.nextafter(crisol.tensor([1], dtype=crisol.uint8), crisol.tensor([2.0], dtype=crisol.bfloat16))
    assert mixed.dtype == crisol.bfloat16 and mixed.item() == 1 + 2.0**-7
