"""weight_norm, spectral_norm and parametrize against NumPy, and modules that forget parameters."""

import copy

import crisol
import numpy as np
import pytest
from crisol import nn
from crisol.nn.utils import (
    parametrizations,
    parametrize,
    remove_spectral_norm,
    remove_weight_norm,
    spectral_norm,
    weight_norm,
)
from numeric import array_of, assert_close

X = np.array([[1.0, -2.0, 0.5], [0.3, 0.7, -1.1]], dtype=np.float32)


def array(x):
    return array_of(x.detach())


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(crisol.asarray(np.arange(1, 13, dtype=np.float32).reshape(4, 3)))

    def forward(self, x):
        return x @ self.weight.T


def layers():
    return [Own(), nn.Linear(3, 4, bias=False), nn.Linear(3, 4)]


def bias_of(layer):
    bias = getattr(layer, "bias", None)
    return 0 if bias is None else array(bias)


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(number, dim):
    layer = layers()[number]
    before = array(layer.weight).copy()
    norms = np.sqrt((before**2).sum({0: 1, 1: 0, None: None}[dim], keepdims=dim is not None))
    assert weight_norm(layer, dim=dim) is layer
    names = {"weight_g", "weight_v"} | ({"bias"} if number == 2 else set())
    assert {name for name, _ in layer.named_parameters()} == names == set(layer.state_dict())
    assert_close(layer.weight_g, norms)
    assert_close(layer.weight, before)
    with pytest.raises(RuntimeError, match="may have a norm"):
        weight_norm(layer)
    with crisol.no_grad():
        layer.weight_g.mul_(2)
    y = nn.Sequential(layer)(crisol.asarray(X))
    assert_close(y, X @ (2 * before).T + bias_of(layer))
    y.sum().backward()
    gradient = np.broadcast_to(X.sum(0), before.shape)
    axes = {0: 1, 1: 0, None: None}[dim]
    expected = (gradient * before / norms).sum(axes, keepdims=dim is not None)
    assert_close(layer.weight_g.grad, expected, 1e-4)
    along = (gradient * before).sum(axes, keepdims=dim is not None) * before / norms**2
    assert_close(layer.weight_v.grad, 2 * (gradient - along), 1e-4)
    copied = copy.deepcopy(layer)
    assert_close(copied.weight, 2 * before)
    with crisol.no_grad():
        copied.weight_g.mul_(0.5)
    assert_close(copied(crisol.asarray(X)), X @ before.T + bias_of(layer))
    assert_close(layer(crisol.asarray(X)), X @ (2 * before).T + bias_of(layer))
    remove_weight_norm(layer)
    assert {name for name, _ in layer.named_parameters()} == {"weight"} | names - {"weight_g", "weight_v"}
    assert isinstance(layer.weight, nn.Parameter)
    assert_close(layer(crisol.asarray(X)), X @ (2 * before).T + bias_of(layer))
    with pytest.raises(ValueError, match="remove_weight_norm"):
        remove_weight_norm(layer)


def test_weight_norm_trains():
    layer = weight_norm(nn.Conv1d(2, 3, 2))
    optimizer = crisol.optim.SGD(layer.parameters(), lr=0.1)
    x, losses = crisol.randn(4, 2, 5), []
    for _ in range(20):
        optimizer.zero_grad()
        loss = (layer(x) - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 1.5
    net = nn.models.ResNet((1, 1, 1, 1))
    with pytest.raises(crisol.InvalidArgumentError, match="part of a model"):
        weight_norm(net.conv1)


@pytest.mark.parametrize("newer", [False, True])
@pytest.mark.parametrize("make", [Own, lambda: nn.Linear(3, 4), lambda: nn.ConvTranspose1d(3, 4, 2)])
def test_spectral_norm(make, newer):
    crisol.manual_seed(0)  # The iteration takes longer for two large singular values that are nearly equal.
    layer = make()
    before = array(layer.weight).copy()
    rows = before.swapaxes(0, 1) if before.ndim == 3 else before
    largest = np.linalg.svd(rows.reshape(rows.shape[0], -1), compute_uv=False)[0]
    (parametrizations.spectral_norm if newer else spectral_norm)(layer)
    x = crisol.randn(2, 3, 5) if before.ndim == 3 else crisol.asarray(X)
    for _ in range(150):
        layer(x)
    assert_close(layer.weight, before / largest, 1e-3)
    layer.eval()
    layer(x).sum().backward()
    trained = layer.parametrizations.weight.original if newer else layer.weight_orig
    assert trained.grad is not None and np.isfinite(array(trained.grad)).all()
    keys = {"parametrizations.weight.original", "parametrizations.weight.0._u", "parametrizations.weight.0._v"}
    assert set(layer.state_dict()) - {"bias"} == (keys if newer else {"weight_orig", "weight_u", "weight_v"})
    if newer:
        parametrize.remove_parametrizations(layer, "weight")
    else:
        remove_spectral_norm(layer)
    assert set(layer.state_dict()) - {"bias"} == {"weight"}
    assert_close(layer.weight, before / largest, 1e-3)


class Symmetric(nn.Module):
    def forward(self, x):
        return crisol.triu(x) + crisol.triu(x, 1).mT


class Scaled(nn.Module):
    def forward(self, x):
        return x * 3

    def right_inverse(self, x):
        return x / 3


def test_parametrize():
    layer = nn.Linear(3, 3)
    before = array(layer.weight).copy()
    kept, cls = layer.weight, type(layer)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    upper = np.triu(before)
    expected = upper + np.triu(before, 1).T
    assert parametrize.is_parametrized(layer) and parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias") and isinstance(layer, nn.Linear)
    assert parametrize.type_before_parametrizations(layer) is cls is not type(layer)
    assert_close(layer.weight, expected)
    assert layer.parametrizations.weight.original.shares_storage_with(kept)
    assert_close(nn.Sequential(layer)(crisol.asarray(X)), X @ expected.T + array(layer.bias))
    parametrize.register_parametrization(layer, "weight", Scaled())
    assert_close(layer.weight, 3 * expected)
    layer(crisol.asarray(X)).sum().backward()
    slope = 3 * np.broadcast_to(X.sum(0), (3, 3))
    assert_close(layer.parametrizations.weight.original.grad, np.triu(slope) + np.triu(slope.T, 1), 1e-4)
    with pytest.raises(RuntimeError, match="Symmetric has no right_inverse"):
        layer.weight = crisol.ones((3, 3))
    copied = copy.deepcopy(layer)
    with crisol.no_grad():
        copied.parametrizations.weight.original.zero_()
    assert not array(copied(crisol.zeros((1, 3))) - copied.bias).any() and not array(copied.weight).any()
    assert_close(layer.weight, 3 * expected)
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is cls and not parametrize.is_parametrized(layer)
    assert isinstance(layer.weight, nn.Parameter) and layer.weight.shares_storage_with(kept)
    assert_close(layer(crisol.asarray(X)), X @ (3 * expected).T + array(layer.bias))
    assert [name for name, _ in layer.named_parameters()] in (["weight", "bias"], ["bias", "weight"])


def test_parametrize_assigns_and_restores():
    layer = Own()
    before = array(layer.weight).copy()
    parametrize.register_parametrization(layer, "weight", Scaled())
    assert_close(layer.weight, before)
    layer.weight = crisol.ones((4, 3))
    assert_close(layer.parametrizations.weight.original, np.full((4, 3), 1 / 3))
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert_close(layer.weight, np.full((4, 3), 1 / 3))
    with pytest.raises(ValueError, match="no parameter, buffer or parametrized tensor 'other'"):
        parametrize.register_parametrization(layer, "other", Scaled())
    with pytest.raises(ValueError, match="changes the shape"):
        parametrize.register_parametrization(layer, "weight", nn.Flatten(0))
    assert set(layer.state_dict()) == {"weight"}


def test_newer_weight_norm():
    layer = parametrizations.weight_norm(nn.Linear(3, 4))
    names = {"parametrizations.weight.original0", "parametrizations.weight.original1", "bias"}
    assert set(layer.state_dict()) == names
    with crisol.no_grad():
        layer.parametrizations.weight.original0.fill_(2.0)
    assert_close(crisol.linalg.vector_norm(layer.weight, dim=1), np.full(4, 2))
    other = parametrizations.weight_norm(nn.Linear(3, 4))
    other.load_state_dict(layer.state_dict())
    assert_close(other(crisol.asarray(X)), array(layer(crisol.asarray(X))))
    parametrize.remove_parametrizations(layer, "weight")
    assert_close(other(crisol.asarray(X)), array(layer(crisol.asarray(X))))


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
def test_orthogonal(kind, shape):
    layer = parametrizations.orthogonal(nn.Linear(*reversed(shape)), orthogonal_map=kind)
    optimizer = crisol.optim.SGD(layer.parameters(), lr=0.1)
    start = array(layer.weight).copy()
    for _ in range(3):
        weight = array(layer.weight)
        small = weight @ weight.T if shape[0] < shape[1] else weight.T @ weight
        assert_close(small, np.eye(min(shape)), 1e-4)
        optimizer.zero_grad()
        (layer(crisol.eye(shape[1])) - 1).square().sum().backward()
        optimizer.step()
    assert np.abs(array(layer.weight) - start).max() > 1e-3
    q = np.linalg.qr(np.random.default_rng(3).normal(size=(max(shape), max(shape))))[0][: shape[0], : shape[1]]
    layer.weight = crisol.asarray(q.astype(np.float32))
    assert_close(layer.weight, q, 1e-4)


def test_attributes_may_change_their_kind():
    own = Own()
    del own.weight
    assert not hasattr(own, "weight") and not list(own.parameters())
    own.register_parameter("weight", nn.Parameter(crisol.ones((2, 5))))
    assert own.weight.shape == (2, 5) and own.parameter_count() == 10
    own.register_buffer("mean", crisol.ones((3,)))
    own.mean = None
    assert "mean" not in own.state_dict()
    layer = nn.Linear(3, 4)
    layer.bias = None
    assert [name for name, _ in layer.named_parameters()] == ["weight"] and layer.bias is None
    assert_close(layer(crisol.asarray(X)), X @ array(layer.weight).T)
    assert copy.deepcopy(layer).bias is None
    layer.bias = nn.Parameter(crisol.ones((4,)))
    assert_close(layer(crisol.asarray(X)), X @ array(layer.weight).T + 1)
    assert layer.parameter_count() == 16
    with pytest.raises(TypeError, match="not a Tensor"):
        layer.bias = crisol.ones((4,))
    with pytest.raises(TypeError, match="stays"):
        del nn.LSTM(2, 3).weight_ih_l0
    parts = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 1)})
    del parts["b"]
    assert list(parts) == ["a"] and isinstance(parts.pop("a"), nn.ReLU) and not len(parts)


def test_lazy_layers():
    net = nn.Sequential(nn.LazyConv2d(4, 3, padding=1, padding_mode="reflect"), nn.Flatten(), nn.LazyLinear(5))
    with pytest.raises(crisol.InvalidArgumentError, match="LazyConv2d '0' has none before its first call"):
        net.parameters()
    assert net(crisol.ones((2, 3, 6, 6))).shape == (2, 5)
    assert isinstance(net[2], nn.Linear) and net[2].in_features == 144 and net[0].in_channels == 3
    assert [tuple(p.shape) for p in net.parameters()] == [(4, 3, 3, 3), (4,), (5, 144), (5,)]
    x = crisol.randn(2, 3, 6, 6)
    assert_close(copy.deepcopy(net)(x), array(net(x)))
    layer = nn.LazyConvTranspose1d(4, 2, groups=2)
    assert layer(crisol.ones((1, 6, 3))).shape == (1, 4, 4) and layer.weight.shape == (6, 2, 2)
