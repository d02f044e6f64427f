"""Forms of calls that PyTorch's databases of ops and modules have: ranks 0, empty tensors, other dtypes, arguments."""

import crisol
import crisol.nn.functional as F
import numpy as np
import pytest
from crisol import linalg, nn
from numeric import assert_close

RNG = np.random.default_rng(11)


def drawn(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def test_one_variable_has_a_covariance_without_axes():
    x = drawn(1, 5)
    assert crisol.cov(crisol.asarray(x)).shape == () and crisol.corrcoef(crisol.asarray(x)).shape == ()
    whole = crisol.cov(crisol.asarray([3, 5, 9]), aweights=crisol.asarray([1.0, 2.0, 1.0]))
    assert_close(whole, np.cov([3, 5, 9], aweights=[1, 2, 1]))


def test_quantile_of_a_number():
    x = crisol.asarray(2.5)
    assert crisol.quantile(x, 0.5, dim=0, keepdim=True).shape == ()
    assert crisol.nanquantile(x, 0.5).item() == 2.5


def test_histogram():
    x = np.array([1.0, 2.0, 2.5, 4.0], np.float32)
    found = crisol.histogram(crisol.asarray(x), crisol.asarray([1.0, 2.0, 4.0]))
    assert found.hist.tolist() == [1, 3] and found.bin_edges.tolist() == [1, 2, 4]
    dense = crisol.histogram(crisol.asarray(x), 3, density=True)
    assert_close(dense.hist, np.histogram(x, 3, density=True)[0])
    one = crisol.histogram(crisol.asarray([3.0]), 2)
    assert one.bin_edges.tolist() == [2.5, 3, 3.5] and one.hist.tolist() == [0, 1]


def test_logit_with_crossed_bounds():
    x = crisol.asarray([0.1, 0.5, 0.9])
    assert_close(crisol.logit(x, 0.6), np.log([1.5, 1.5, 1 / 1.5]))


def test_svd_is_pytorchs():
    x = drawn(4, 3)
    u, s, v = crisol.svd(crisol.asarray(x))
    assert u.shape == (4, 3) and v.shape == (3, 3)
    assert_close(u @ crisol.diag(s) @ v.T, x)
    assert crisol.svd(crisol.asarray(x), some=False).U.shape == (4, 4)
    assert_close(crisol.asarray(x).svd(compute_uv=False).S, np.linalg.svd(x, compute_uv=False))
    assert linalg.svd(crisol.asarray(x)).Vh.shape == (3, 3)



def test_empty_and_rank_0():
    assert crisol.gather(crisol.ones(5), 0, crisol.zeros((2, 0), dtype=crisol.int64)).shape == (2, 0)
    assert crisol.asarray(1.0).index_fill(0, crisol.asarray([0]), 3.0).item() == 3
    assert crisol.asarray(1.0).unfold(0, 1, 1).tolist() == [1]
    assert crisol.cat([crisol.empty(0), crisol.ones((2, 3))], dim=1).shape == (2, 3)
    assert F.unfold(crisol.ones((0, 1, 5, 5)), 2).shape == (0, 4, 16)
    assert F.local_response_norm(crisol.ones((0, 3, 2)), 2).shape == (0, 3, 2)
    assert F.multi_margin_loss(crisol.asarray(0.5), crisol.asarray(0)).item() == 0
    assert F.multilabel_margin_loss(crisol.asarray(0.5), crisol.asarray(0)).item() == 0
    assert crisol.ones((2, 3), dtype=crisol.uint8).sum_to_size(()).dtype == crisol.int64


def test_broadcasts():
    a, b = drawn(1, 2, 3), drawn(2, 1, 3)
    full = np.broadcast_to(a, (2, 2, 3)), np.broadcast_to(b, (2, 2, 3))
    wanted = (full[0] * full[1]).sum(1) / np.linalg.norm(full[0], axis=1) / np.linalg.norm(full[1], axis=1)
    assert_close(F.cosine_similarity(crisol.asarray(a), crisol.asarray(b), dim=-2), wanted)
    mask = np.array([[True, False], [False, True]])
    found = crisol.masked_scatter(crisol.asarray([1.0, 2.0]), crisol.asarray(mask), crisol.asarray([8.0, 9.0]))
    assert found.tolist() == [[8, 2], [1, 9]]
    x, y = drawn(1, 1, 1), drawn(2, 1, 2)
    assert_close(crisol.tensordot(crisol.asarray(x), crisol.asarray(y), dims=((0, 1), (2, 0))), x[0, 0, 0] * y.sum())


def test_circular_padding_after_cropping():
    x = crisol.arange(4.0).reshape(1, 1, 4)
    assert F.pad(x, (-1, 2), "circular").tolist() == [[[1, 2, 3, 1, 2]]]


def test_dtypes_of_results():
    m, v = crisol.ones((2, 3), dtype=crisol.int64), crisol.ones(3, dtype=crisol.int64)
    found = crisol.addmv(crisol.ones(2, dtype=crisol.int64), m, v, beta=0.6, alpha=1.9)
    assert found.dtype == crisol.int64 and found.tolist() == [3, 3]
    assert crisol.cumsum(crisol.ones(3, dtype=crisol.uint8), 0, dtype=crisol.uint8).dtype == crisol.uint8
    assert crisol.cumprod(v, 0, dtype=crisol.int32).dtype == crisol.int32
    assert crisol.diag(crisol.asarray([True, False])).dtype == crisol.bool
    assert crisol.diag_embed(crisol.asarray([[True, False]])).dtype == crisol.bool


def test_kl_div_of_odd_targets():
    x = crisol.asarray([-1.0, -2.0, -0.5])
    found = F.kl_div(x, crisol.asarray([0.0, -0.5, 0.25]), reduction="none").tolist()
    assert found[0] == 0 and np.isnan(found[1]) and found[2] == pytest.approx(0.25 * (np.log(0.25) + 0.5))
    assert F.kl_div(crisol.asarray(-1.0), crisol.asarray(1.0), reduction="batchmean").item() == 1


def test_linalg():
    a, b = drawn(2, 3, 3), drawn(2, 3)
    assert_close(linalg.solve(crisol.asarray(a), crisol.asarray(b)), np.linalg.solve(a, b[..., None])[..., 0], 1e-3)
    full = drawn(3, 3)
    lower = np.tril(full) + np.tril(full, -1).T
    assert_close(linalg.pinv(crisol.asarray(full), hermitian=True), np.linalg.pinv(lower), 1e-3)
    s = np.linalg.svd(full, compute_uv=False)
    limit = float(s[1] + s[2]) / 2
    assert linalg.matrix_rank(crisol.asarray(full), atol=limit).item() == 2
    assert linalg.matrix_rank(crisol.asarray(full), atol=limit, rtol=10.0).item() == 0
    part = linalg.pinv(crisol.asarray(full), atol=limit, rtol=0.0)
    assert_close(part, np.linalg.pinv(full, rcond=limit / s[0]), 1e-3)
    tall = linalg.lstsq(crisol.asarray(drawn(4, 2)), crisol.asarray(drawn(4, 1)), driver="gels")
    assert tall.rank.shape == (0,) and tall.singular_values.shape == (0,)
    moved = drawn(3, 6, 2)
    right = drawn(6)
    found = linalg.tensorsolve(crisol.asarray(moved), crisol.asarray(right), dims=(0, 2))
    assert_close(found, np.linalg.tensorsolve(moved, right, axes=(0, 2)), 1e-2)


def test_same_padding_of_even_kernels():
    x, w = drawn(1, 2, 6, 5), drawn(3, 2, 2, 4)
    wanted = F.conv2d(crisol.asarray(np.pad(x, [(0, 0), (0, 0), (0, 1), (1, 2)])), crisol.asarray(w))
    assert_close(F.conv2d(crisol.asarray(x), crisol.asarray(w), padding="same"), wanted)
    layer = nn.Conv2d(2, 3, (2, 4), padding="same", bias=False)
    layer.weight = nn.Parameter(crisol.asarray(w))
    assert_close(layer(crisol.asarray(x)), wanted)
    assert_close(nn.Sequential(layer)(crisol.asarray(x)), wanted)
    assert layer.padding == "same"


def test_numbers_in_a_tuple():
    x = crisol.asarray(drawn(1, 1, 6, 6))
    assert_close(F.avg_pool2d(x, (2,)), F.avg_pool2d(x, 2))
    assert nn.Conv2d(1, 1, (3,), padding=(1,))(x).shape == (1, 1, 6, 6)
    assert crisol.einsum("ij,ij->i", [crisol.ones((2, 3)), crisol.ones((2, 3))]).tolist() == [3, 3]
    a, b = crisol.arange(6.0).reshape(2, 3), crisol.arange(12.0).reshape(3, 4)
    assert crisol.einsum(a, [0, 1], b, [1, 2], [2, 0]).tolist() == (a @ b).T.tolist()
    assert crisol.einsum(a, [30, 2]).tolist() == a.T.tolist()  # Without a result, axes are in the order of numbers.
    assert crisol.einsum(a, [..., 0], [0, ...]).tolist() == a.T.tolist()
    with pytest.raises(ValueError, match=r"\[einsum\] the number 52 of an axis is not in \[0, 52\)"):
        crisol.einsum(a, [0, 52])
    assert crisol.zeros(2, dtype=float).dtype is crisol.float64 and crisol.ones(2).to(int).dtype is crisol.int64
    assert crisol.ones(2).long(memory_format=crisol.preserve_format).dtype == crisol.int64


@pytest.mark.parametrize("add_bias_kv", [False, True])
@pytest.mark.parametrize("add_zero_attn", [False, True])
def test_more_keys_of_attention(add_bias_kv, add_zero_attn):
    attention = nn.MultiheadAttention(4, 2, add_bias_kv=add_bias_kv, add_zero_attn=add_zero_attn, batch_first=True)
    x = crisol.asarray(drawn(2, 3, 4))
    mask = crisol.asarray([[False, False, True], [False, False, False]])
    y, weights = attention(x, x, x, key_padding_mask=mask)
    assert y.shape == (2, 3, 4) and weights.shape == (2, 3, 3 + add_bias_kv + add_zero_attn)
    assert_close(weights.sum(-1), np.ones((2, 3)))
    assert_close(weights[0, :, 2], np.zeros(3))
    plain, _ = attention(x, x, x, key_padding_mask=mask, need_weights=False)
    assert_close(y, plain)
    assert ("bias_k" in dict(attention.named_parameters())) is add_bias_kv


def test_layers_of_a_transformer_without_biases():
    layer = nn.TransformerEncoderLayer(4, 2, 8, bias=False)
    assert not any("bias" in name for name, _ in layer.named_parameters())
    assert nn.Linear(2, 2)(input=crisol.ones((1, 2))).shape == (1, 2)


def test_uint8_and_other_dtypes():
    x = crisol.asarray([[0, 3], [1, 2]], dtype=crisol.uint8)
    assert crisol.all(x).dtype == crisol.uint8 and x.any(dim=1).tolist() == [1, 1] and x.all(axis=1).tolist() == [0, 1]
    assert x.bool().all().dtype == crisol.bool and x.to(crisol.int32).any(1, True).shape == (2, 1)
    y = crisol.asarray([200, 100, 50], dtype=crisol.uint8)
    assert crisol.trapezoid(y, crisol.asarray([1, 2, 4], dtype=crisol.uint8)).item() == ((200 + 100) % 256 + 300 % 256) / 2
    assert_close(crisol.cumulative_trapezoid(crisol.asarray([1.0, 3.0, 4.0])), [2, 5.5])
    assert crisol.float_power(crisol.asarray([True]), 2).item() == 1
    assert_close(crisol.digamma(crisol.asarray([1, 2])), [-0.5772157, 0.4227843])
    assert_close(crisol.mvlgamma(crisol.asarray([3]), 2), [0.5 * np.log(np.pi) + np.log(2) + 0.2846829])
    assert [i.dtype for i in crisol.unravel_index(crisol.asarray([3], dtype=crisol.uint8), (2, 2))] == [crisol.int64] * 2
    large = crisol.full((2, 4), 300.0, dtype=crisol.float16)
    assert_close(F.rms_norm(large, (4,)), np.ones((2, 4)), 1e-2)


def test_least_squares_by_the_default_driver():
    found = linalg.lstsq(crisol.asarray(drawn(4, 2)), crisol.asarray(drawn(4, 1)))
    assert found.residuals.shape == (0,) and found.singular_values.shape == (0,) and found.rank.item() == 2


def test_generators():
    first = crisol.Generator(5)
    assert first.manual_seed(7) is first and first.initial_seed() == 7
    assert crisol.randn(3, generator=first).tolist() == crisol.randn(3, generator=crisol.Generator(7)).tolist()
    assert isinstance(crisol.manual_seed(3), crisol.Generator) and crisol.initial_seed() == 3
    assert crisol.Generator().initial_seed() == crisol.Generator("cpu").initial_seed() == 67280421310721
    with crisol.random.fork_rng():
        inside = crisol.rand(2).tolist()
    assert crisol.rand(2).tolist() == inside


def test_names_that_programs_read():
    assert crisol.typename(crisol.ones(2)) == "torch.FloatTensor" and crisol.typename([]) == "builtins.list"
    crisol.backends.cudnn.benchmark = True
    assert not crisol.backends.mps.is_available() and not crisol.backends.cudnn.is_available()
    model = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Linear(2, 2))
    wrapped = nn.DataParallel(model)
    assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    assert_close(wrapped(crisol.ones((1, 2))).detach(), model(crisol.ones((1, 2))).detach())
    zeros = crisol.zeros(2)
    with crisol.autograd.set_detect_anomaly(True), pytest.raises(crisol.Error):
        crisol.log(zeros - 1)
    crisol.log(zeros - 1)


def test_assert_close():
    close = crisol.testing.assert_close
    close(crisol.asarray([1.0, 2.0]), crisol.asarray([1.0, 2.000001]))
    close({"a": crisol.ones(2)}, {"a": crisol.ones(2)})
    for wrong in (crisol.asarray([1.0, 2.1]), crisol.asarray([1, 2]), crisol.ones((2, 1))):
        with pytest.raises(AssertionError, match="differ"):
            close(wrong, crisol.asarray([1.0, 2.0]))
    with pytest.raises(ValueError, match="both"):
        close(crisol.ones(2), crisol.ones(2), rtol=0.1)


def test_distributed_sampler():
    from crisol.data import DataLoader, DistributedSampler

    parts = [DistributedSampler(range(10), 4, rank, seed=3) for rank in range(4)]
    orders = [list(part) for part in parts]
    assert [len(part) for part in parts] == [3] * 4 and set(sum(orders, [])) == set(range(10))
    parts[0].set_epoch(1)
    assert list(parts[0]) != orders[0]
    assert list(DistributedSampler(range(10), 4, 1, shuffle=False, drop_last=True)) == [1, 5]
    loader = DataLoader(list(range(10)), batch_size=2, sampler=DistributedSampler(range(10), 2, 0, shuffle=False))
    assert [batch.tolist() for batch in loader] == [[0, 2], [4, 6], [8]]
    with pytest.raises(ValueError, match="rank 2"):
        DistributedSampler(range(4), 2, 2)
