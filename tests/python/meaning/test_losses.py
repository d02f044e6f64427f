"""The losses and layers that are made of functions, with their gradients."""

import math

import crisol
import crisol.nn.functional as F
import numpy as np
import pytest
from crisol import nn
from numeric import array_of, check_gradients

RANDOM = np.random.default_rng(5)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


X, Y = normal(3, 4), normal(3, 4)
SIGN = np.where(Y > 0, 1, -1).astype(np.float32)
LABELS = np.array([2, 0, 3])
d = X - Y


def log_softmax(x, axis):
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


P = np.exp(log_softmax(Y, 1)).astype(np.float32)
LOSSES = {
    "l1_loss": (lambda x, y: F.l1_loss(x, y), np.abs(d).mean()),
    "smooth_l1_loss": (
        lambda x, y: F.smooth_l1_loss(x, y, beta=0.5),
        np.where(np.abs(d) < 0.5, d * d, np.abs(d) - 0.25).mean(),
    ),
    "huber_loss": (
        lambda x, y: F.huber_loss(x, y, delta=0.5, reduction="sum"),
        np.where(np.abs(d) < 0.5, d * d / 2, 0.5 * (np.abs(d) - 0.25)).sum(),
    ),
    "binary_cross_entropy": (
        lambda x, y: F.binary_cross_entropy(x.sigmoid(), (y > 0).float()),
        np.where(Y > 0, -np.log(sigmoid(X)), -np.log(1 - sigmoid(X))).mean(),
    ),
    "binary_cross_entropy_with_logits": (
        lambda x, y: F.binary_cross_entropy_with_logits(x, (y > 0).float(), pos_weight=crisol.tensor([1.0, 2, 3, 4])),
        np.where(Y > 0, -np.log(sigmoid(X)) * [1, 2, 3, 4], -np.log(1 - sigmoid(X))).mean(),
    ),
    "kl_div": (
        lambda x, y: F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"),
        (P * (np.log(P) - log_softmax(X, 1))).sum() / 3,
    ),
    "poisson_nll_loss": (lambda x, y: F.poisson_nll_loss(x, y.abs()), (np.exp(X) - np.abs(Y) * X).mean()),
    "gaussian_nll_loss": (
        lambda x, y: F.gaussian_nll_loss(x, y, crisol.asarray(np.abs(X) + 0.5)),
        (0.5 * (np.log(np.abs(X) + 0.5) + d * d / (np.abs(X) + 0.5))).mean(),
    ),
    "hinge_embedding_loss": (
        lambda x, y: F.hinge_embedding_loss(x, y.sign()),
        np.where(SIGN > 0, X, np.maximum(1 - X, 0)).mean(),
    ),
    "soft_margin_loss": (lambda x, y: F.soft_margin_loss(x, y.sign()), np.log1p(np.exp(-SIGN * X)).mean()),
    "margin_ranking_loss": (
        lambda x, y: F.margin_ranking_loss(x, y, crisol.asarray(SIGN), margin=0.3),
        np.maximum(-SIGN * d + 0.3, 0).mean(),
    ),
    "cosine_similarity": (
        lambda x, y: F.cosine_similarity(x, y),
        (X * Y).sum(1) / np.linalg.norm(X, axis=1) / np.linalg.norm(Y, axis=1),
    ),
    "pairwise_distance": (lambda x, y: F.pairwise_distance(x, y), np.linalg.norm(d + 1e-6, axis=1)),
    "triplet_margin_loss": (
        lambda x, y: F.triplet_margin_loss(x, y, x + 1),
        np.maximum(np.linalg.norm(d + 1e-6, axis=1) - np.linalg.norm(np.full((3, 4), -1 + 1e-6), axis=1) + 1, 0).mean(),
    ),
    "multi_margin_loss": (
        lambda x, y: F.multi_margin_loss(x, crisol.asarray(LABELS)),
        np.mean([sum(max(1 - r[c] + r[j], 0) for j in range(4) if j != c) / 4 for r, c in zip(X, LABELS)]),
    ),
    "weights": (
        lambda x, y: F.cross_entropy(x, crisol.asarray(LABELS), crisol.tensor([1.0, 2, 3, 4])),
        -(log_softmax(X, 1)[range(3), LABELS] * (LABELS + 1)).sum() / (LABELS + 1).sum(),
    ),
    "soft targets": (lambda x, y: F.cross_entropy(x, y.softmax(1)), -(P * log_softmax(X, 1)).sum(1).mean()),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    function, wanted = LOSSES[name]
    np.testing.assert_allclose(array_of(function(crisol.asarray(X), crisol.asarray(Y))), wanted, rtol=2e-5, atol=1e-6)
    check_gradients(lambda x: function(x, crisol.asarray(Y)), X)


def test_cross_entropy_of_images():
    logits, labels = normal(2, 3, 2, 2), RANDOM.integers(0, 3, (2, 2, 2))
    logs = np.moveaxis(log_softmax(logits, 1), 1, -1).reshape(-1, 3)
    picked = -logs[range(8), labels.reshape(-1)]
    x, target = crisol.asarray(logits), crisol.asarray(labels)
    np.testing.assert_allclose(F.cross_entropy(x, target).item(), picked.mean(), rtol=1e-5)
    np.testing.assert_allclose(
        array_of(F.cross_entropy(x, target, reduction="none")), picked.reshape(labels.shape), rtol=1e-5
    )
    loss = nn.CrossEntropyLoss(crisol.tensor([1.0, 0.5, 2.0]), ignore_index=1, label_smoothing=0.1)
    assert "weight" in loss.state_dict() and math.isfinite(loss(x, target).item())
    with pytest.raises(ValueError, match="labels of shape"):
        F.cross_entropy(x, target[0])


def test_ctc_loss():
    """Against the sum over all alignments of a short sequence."""
    logs = log_softmax(normal(4, 3), 1)
    total = 0.0
    for path in np.ndindex(3, 3, 3, 3):
        shrunk = [c for i, c in enumerate(path) if i == 0 or c != path[i - 1]]
        if [c for c in shrunk if c != 0] == [1, 2]:
            total += math.exp(sum(logs[t, c] for t, c in enumerate(path)))
    x = crisol.asarray(logs.astype(np.float32)).unsqueeze(1)
    loss = F.ctc_loss(x, crisol.tensor([[1, 2]]), [4], [2], reduction="sum")
    np.testing.assert_allclose(loss.item(), -math.log(total), rtol=1e-5)
    none = F.ctc_loss(x[:1], crisol.tensor([[1, 2]]), [1], [2], reduction="sum", zero_infinity=True)
    assert none.item() == 0 and math.isinf(F.ctc_loss(x[:1], crisol.tensor([[1, 2]]), [1], [2], reduction="sum").item())


@pytest.mark.parametrize("mode, numpy_mode", [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
def test_padding(mode, numpy_mode):
    x = normal(2, 3, 4)
    wanted = np.pad(x, [(0, 0), (2, 1), (1, 3)], numpy_mode)
    np.testing.assert_array_equal(array_of(F.pad(crisol.asarray(x), (1, 3, 2, 1), mode)), wanted)
    check_gradients(lambda t: F.pad(t, (1, 2), mode), x)
    with pytest.raises(ValueError, match="at most"):
        F.pad(crisol.asarray(x), (9, 0), "circular")


def test_windows():
    x = normal(2, 3, 5, 4)
    columns = F.unfold(crisol.asarray(x), (2, 3), stride=(2, 1), padding=(1, 0))
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)])
    view = np.lib.stride_tricks.sliding_window_view(padded, (2, 3), axis=(2, 3))[:, :, ::2]
    wanted = np.moveaxis(view, (4, 5), (2, 3)).reshape(2, 18, -1)
    np.testing.assert_array_equal(array_of(columns), wanted)
    counts = F.fold(F.unfold(crisol.ones(1, 1, 3, 3), 2), (3, 3), 2)
    assert counts[0, 0].tolist() == [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
    check_gradients(lambda t: F.fold(F.unfold(t, 2, padding=1), (5, 4), 2, padding=1), x)


def test_pools():
    x = normal(2, 3, 7)
    t = crisol.asarray(x)
    view = np.lib.stride_tricks.sliding_window_view(x, 3, axis=2)[:, :, ::2]
    np.testing.assert_array_equal(array_of(F.max_pool1d(t, 3, 2)), view.max(-1))
    np.testing.assert_allclose(array_of(nn.AvgPool1d(3, 2)(t)), view.mean(-1), rtol=1e-5, atol=1e-6)
    values, places = F.adaptive_max_pool1d(t, 3, return_indices=True)
    parts = [x[..., :3], x[..., 2:5], x[..., 4:]]
    np.testing.assert_array_equal(array_of(values), np.stack([p.max(-1) for p in parts], -1))
    np.testing.assert_array_equal(np.take_along_axis(x, array_of(places), 2), array_of(values))
    image = crisol.asarray(normal(1, 2, 4, 4))
    pooled, indices = F.max_pool2d(image, 2, return_indices=True)
    assert (F.max_unpool2d(pooled, indices, 2).sum() - pooled.sum()).abs().item() < 1e-5


def test_layers_with_parameters():
    layers = nn.ModuleList([nn.PReLU(3), nn.RMSNorm(4), nn.Bilinear(4, 5, 2), nn.EmbeddingBag(7, 4)])
    assert [tuple(p.shape) for p in layers.parameters()] == [(3,), (4,), (2, 4, 5), (2,), (7, 4)]
    x = crisol.asarray(normal(2, 3, 4))
    rms = array_of(x) / np.sqrt((array_of(x) ** 2).mean(-1, keepdims=True) + 2.0**-23)
    np.testing.assert_allclose(array_of(layers[1](x).detach()), rms, rtol=1e-5, atol=1e-6)
    bag = layers[3](crisol.tensor([1, 2, 4, 5, 4]), crisol.tensor([0, 3]))
    table = array_of(layers[3].weight.detach())
    np.testing.assert_allclose(
        array_of(bag.detach()), [table[[1, 2, 4]].mean(0), table[[5, 4]].mean(0)], rtol=1e-5, atol=1e-6
    )
    held = nn.ParameterList([crisol.ones(2), crisol.zeros(1)])
    assert list(held.state_dict()) == ["0", "1"] and len(held[:1]) == 1 and held[-1].requires_grad
    named = nn.ParameterDict({"a": crisol.ones(2)})
    assert "a" in named and dict(named.items())["a"].requires_grad and list(named.state_dict()) == ["a"]


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss])
def test_a_broadcast_target_warns(loss):
    with pytest.warns(UserWarning, match=r"the shapes are \(4, 1\) and \(4,\)"):
        assert loss(crisol.ones(4, 1), crisol.zeros(4), reduction="none").shape == (4, 4)
