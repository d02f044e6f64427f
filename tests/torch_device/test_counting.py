"""Counting, distinct elements, elements by rank, bags and distances: on the device alone, with the CPU's results."""

import pytest
import torch
import torch.nn.functional as F
from compare import DEVICE, assert_same, native

WHOLE = torch.tensor([3, 1, 1, 7, 3, 3])
REAL = torch.tensor([[0.5, -1.0, 2.0], [float("nan"), 0.25, 2.0]])
CALLS = [
    ("bincount", lambda x: torch.bincount(x, minlength=12), WHOLE),
    ("bincount of nothing", lambda x: torch.bincount(x[:0], minlength=3), WHOLE),
    ("bincount with weights", lambda x: torch.bincount(x, x.float()), WHOLE),
    ("histc", lambda x: torch.histc(x, 5, -1, 2), REAL),
    ("histc without limits", lambda x: torch.histc(x, 4), REAL[:1]),
    ("repeat_interleave", lambda x: torch.repeat_interleave(x * 2, x), WHOLE),
    ("unique", lambda x: torch.unique(x, return_inverse=True, return_counts=True), WHOLE.reshape(2, 3)),
    ("unique rows", lambda x: torch.unique(x % 2, dim=0, return_inverse=True, return_counts=True), WHOLE.reshape(3, 2)),
    ("unique runs", lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True), WHOLE),
    ("isin", lambda x: torch.isin(x, x[:2]), WHOLE),
    ("isin, inverted", lambda x: torch.isin(x, x[:2], invert=True), WHOLE),
    ("median", lambda x: (x.median(), x[0].median()), REAL),
    ("median of whole numbers", lambda x: x.median(), WHOLE),
    ("nanmedian", lambda x: (x.nanmedian(), (x * float("nan")).nanmedian()), REAL),
    ("kthvalue", lambda x: (x.kthvalue(2, 1), x.kthvalue(1, 0, keepdim=True)), REAL),
    ("count_nonzero", lambda x: torch.count_nonzero(x - 3, dim=1), WHOLE.reshape(2, 3)),
    ("nansum", lambda x: (x.nansum(), x.nansum(1)), REAL),
    ("aminmax", lambda x: (torch.aminmax(x), torch.aminmax(x, dim=1, keepdim=True)), REAL),
    ("trace", lambda x: x.trace(), REAL[:, 1:]),
    ("frac", lambda x: x.frac(), REAL * 1.3),
    ("nan_to_num", lambda x: (torch.nan_to_num(x / x.frac()), torch.nan_to_num(x, 1.0, 2.0, 3.0)), REAL),
    ("nan_to_num of infinities", lambda x: torch.nan_to_num(1 / x, posinf=7.0), torch.tensor([0.0, -0.0, 2.0])),
    ("take", lambda x: x.take(x[:1] - 2), WHOLE.reshape(3, 2)),
]


@pytest.mark.parametrize(("name", "call", "x"), CALLS, ids=[call[0] for call in CALLS])
def test_counting(name, call, x):
    expected = call(x)
    with native():
        actual = call(x.to(DEVICE))
    assert_same(actual, expected, name)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "amax", "amin"])
def test_scattered_elements(name, include_self, dtype):
    x = torch.arange(2, 14).reshape(4, 3).to(dtype)
    index, source = torch.tensor([[0, 2, 2], [0, 1, 0]]), torch.tensor([[5, 3, 9], [1, 7, 4]]).to(dtype)

    def call(x, index, source):
        y = x.scatter_reduce(0, index, source, name, include_self=include_self)
        return y, torch.autograd.grad(y.square().sum(), (x, source)) if y.requires_grad else ()

    wants = dtype.is_floating_point
    expected = call(x.requires_grad_(wants), index, source.requires_grad_(wants))
    with native():
        theirs = [y.detach().to(DEVICE).requires_grad_(y.requires_grad) for y in (x, index, source)]
        assert_same(call(*theirs), expected)


@pytest.mark.parametrize("settings", [
    {"mode": "sum"}, {"mode": "mean"}, {"mode": "mean", "padding_idx": 3}, {"mode": "sum", "include_last_offset": True},
    {"mode": "sum", "weighted": True}, {"mode": "sum", "weighted": True, "padding_idx": 1},
])  # fmt: skip
def test_embeddings_of_bags(settings):
    settings = dict(settings)
    weighted = settings.pop("weighted", False)
    table, factors = torch.randn(8, 4), torch.rand(6) if weighted else None
    offsets = torch.tensor([0, 2, 2, 6 if settings.get("include_last_offset") else 5])  # The second bag is empty.

    def call(device):
        w = table.to(device).requires_grad_()
        f = factors.to(device).requires_grad_() if weighted else None
        y = F.embedding_bag(WHOLE.to(device), w, offsets.to(device), per_sample_weights=f, **settings)
        return y, torch.autograd.grad(y.square().sum(), [w, f] if weighted else [w])

    expected = call("cpu")
    with native():
        assert_same(call(DEVICE), expected)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, float("inf")])
def test_distances(p):
    a, b = torch.randn(2, 5, 3), torch.randn(2, 4, 3)

    def call(device):
        x, y = a.to(device).requires_grad_(), b.to(device).requires_grad_()
        d = torch.cdist(x, y, p)
        return d, torch.autograd.grad(d.square().sum(), (x, y))

    expected = call("cpu")
    with native():
        assert_same(call(DEVICE), expected)
