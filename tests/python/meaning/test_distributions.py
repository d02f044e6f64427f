"""crisol.distributions against formulas in NumPy."""

import math

import crisol
import numpy as np
import pytest
from crisol import distributions as D
from numeric import check_gradients

RANDOM = np.random.default_rng(3)
LOC = RANDOM.standard_normal((3, 4)).astype(np.float32)
SCALE = (np.abs(RANDOM.standard_normal((3, 4))) + 0.5).astype(np.float32)
VALUE = RANDOM.random((3, 4)).astype(np.float32)
P = SCALE / SCALE.sum(1, keepdims=True)


def t(x):
    return crisol.asarray(x)


CASES = {
    "Normal": (
        lambda: D.Normal(t(LOC), t(SCALE)), VALUE,
        -((VALUE - LOC) ** 2) / 2 / SCALE**2 - np.log(SCALE) - math.log(2 * math.pi) / 2,
        np.log(SCALE) + 0.5 + math.log(2 * math.pi) / 2, LOC, SCALE**2,
    ),
    "Laplace": (
        lambda: D.Laplace(t(LOC), t(SCALE)), VALUE, -np.abs(VALUE - LOC) / SCALE - np.log(2 * SCALE),
        1 + np.log(2 * SCALE), LOC, 2 * SCALE**2,
    ),
    "Uniform": (
        lambda: D.Uniform(-1.0, t(SCALE)), VALUE * 3, np.where(VALUE * 3 < SCALE, -np.log(SCALE + 1), -np.inf),
        np.log(SCALE + 1), (SCALE - 1) / 2, (SCALE + 1) ** 2 / 12,
    ),
    "Exponential": (
        lambda: D.Exponential(t(SCALE)), VALUE, np.log(SCALE) - SCALE * VALUE, 1 - np.log(SCALE), 1 / SCALE, 1 / SCALE**2,
    ),
    "Bernoulli": (
        lambda: D.Bernoulli(t(VALUE)), (LOC > 0).astype(np.float32), np.log(np.where(LOC > 0, VALUE, 1 - VALUE)),
        -VALUE * np.log(VALUE) - (1 - VALUE) * np.log(1 - VALUE), VALUE, VALUE * (1 - VALUE),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_numbers(name):
    make, value, log_prob, entropy, mean, variance = CASES[name]
    crisol.manual_seed(1)
    d = make()
    for found, wanted in [
        (d.log_prob(t(value)), log_prob),
        (d.entropy(), entropy),
        (d.mean, mean),
        (d.variance, variance),
    ]:
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-4, atol=1e-5)
    drawn = np.asarray(d.sample((4000,))).astype(np.float64)
    assert drawn.shape == (4000, 3, 4) and d.sample().shape == (3, 4)
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.06 * np.sqrt(variance).max() + 0.02)
    np.testing.assert_allclose(drawn.std(0), np.sqrt(variance), rtol=0.15)


def test_categories():
    d = D.Categorical(t(SCALE))
    value = np.array([0, 3, 1])
    np.testing.assert_allclose(np.asarray(d.log_prob(t(value))), np.log(P[range(3), value]), rtol=1e-5)
    np.testing.assert_allclose(np.asarray(d.entropy()), -(P * np.log(P)).sum(1), rtol=1e-5)
    drawn = np.asarray(d.sample((4000,)))
    assert drawn.shape == (4000, 3)
    np.testing.assert_allclose((drawn[..., None] == np.arange(4)).mean(0), P, atol=0.05)
    one_hot = D.OneHotCategorical(logits=t(LOC))
    assert one_hot.sample((2,)).sum(-1).tolist() == [[1, 1, 1]] * 2 and one_hot.event_shape == (4,)
    with pytest.raises(ValueError, match="either probs or logits"):
        D.Categorical()


def test_divergences_and_gradients():
    p, q = D.Normal(t(LOC), t(SCALE)), D.Normal(0.0, 2.0)
    wanted = np.log(2 / SCALE) + (SCALE**2 + LOC**2) / 8 - 0.5
    np.testing.assert_allclose(np.asarray(D.kl_divergence(p, q)), wanted, rtol=1e-4, atol=1e-5)
    both = D.kl_divergence(D.Independent(p, 1), D.Independent(D.Normal(t(LOC * 0), t(SCALE * 0 + 2)), 1))
    np.testing.assert_allclose(np.asarray(both), wanted.sum(1), rtol=1e-4)
    a, b = D.Categorical(t(SCALE)), D.Categorical(logits=t(LOC))
    other = np.exp(LOC) / np.exp(LOC).sum(1, keepdims=True)
    np.testing.assert_allclose(np.asarray(D.kl_divergence(a, b)), (P * np.log(P / other)).sum(1), rtol=1e-4, atol=1e-5)
    for x, y in (
        (D.Bernoulli(0.3), D.Bernoulli(0.6)),
        (D.Exponential(2.0), D.Exponential(0.5)),
        (D.Uniform(0, 1), D.Uniform(-1, 2)),
    ):
        assert D.kl_divergence(x, y).item() > 0 and abs(D.kl_divergence(x, x).item()) < 1e-6
    with pytest.raises(NotImplementedError, match="Normal and Uniform"):
        D.kl_divergence(q, D.Uniform(0, 1))
    check_gradients(lambda x: D.Normal(x, 1.5).log_prob(t(VALUE)), LOC)
    scale = t(SCALE).requires_grad_()
    D.Normal(t(LOC), scale).rsample().sum().backward()
    assert scale.grad is not None and not D.Normal(t(LOC), scale).sample().requires_grad
