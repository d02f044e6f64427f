"""crisol.distributions against formulas in NumPy."""

import math

import crisol
import numpy as np
import pytest
from crisol import distributions as D
from numeric import array_of, assert_close, check_gradients

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
        np.testing.assert_allclose(array_of(found), wanted, rtol=1e-4, atol=1e-5)
    drawn = array_of(d.sample((4000,))).astype(np.float64)
    assert drawn.shape == (4000, 3, 4) and d.sample().shape == (3, 4)
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.06 * np.sqrt(variance).max() + 0.02)
    np.testing.assert_allclose(drawn.std(0), np.sqrt(variance), rtol=0.15)


def test_categories():
    d = D.Categorical(t(SCALE))
    value = np.array([0, 3, 1])
    np.testing.assert_allclose(array_of(d.log_prob(t(value))), np.log(P[range(3), value]), rtol=1e-5)
    np.testing.assert_allclose(array_of(d.entropy()), -(P * np.log(P)).sum(1), rtol=1e-5)
    drawn = array_of(d.sample((4000,)))
    assert drawn.shape == (4000, 3)
    np.testing.assert_allclose((drawn[..., None] == np.arange(4)).mean(0), P, atol=0.05)
    one_hot = D.OneHotCategorical(logits=t(LOC))
    assert one_hot.sample((2,)).sum(-1).tolist() == [[1, 1, 1]] * 2 and one_hot.event_shape == (4,)
    with pytest.raises(ValueError, match="either probs or logits"):
        D.Categorical()


def test_divergences_and_gradients():
    p, q = D.Normal(t(LOC), t(SCALE)), D.Normal(0.0, 2.0)
    wanted = np.log(2 / SCALE) + (SCALE**2 + LOC**2) / 8 - 0.5
    np.testing.assert_allclose(array_of(D.kl_divergence(p, q)), wanted, rtol=1e-4, atol=1e-5)
    both = D.kl_divergence(D.Independent(p, 1), D.Independent(D.Normal(t(LOC * 0), t(SCALE * 0 + 2)), 1))
    np.testing.assert_allclose(array_of(both), wanted.sum(1), rtol=1e-4)
    a, b = D.Categorical(t(SCALE)), D.Categorical(logits=t(LOC))
    other = np.exp(LOC) / np.exp(LOC).sum(1, keepdims=True)
    np.testing.assert_allclose(array_of(D.kl_divergence(a, b)), (P * np.log(P / other)).sum(1), rtol=1e-4, atol=1e-5)
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


# By name: two distributions, and the numbers over which densities are added.
GRID = np.linspace(1e-4, 40, 400_001)
UNIT = np.linspace(1e-5, 1 - 1e-5, 200_001)
WIDE = np.linspace(-60, 60, 400_001)
PAIRS = {
    "Gamma": (lambda: D.Gamma(2.5, 1.5), lambda: D.Gamma(1.5, 0.75), GRID),
    "Chi2": (lambda: D.Chi2(3.0), lambda: D.Chi2(4.5), GRID),
    "Beta": (lambda: D.Beta(2.5, 1.5), lambda: D.Beta(1.5, 3.0), UNIT),
    "LogNormal": (lambda: D.LogNormal(0.25, 0.5), None, GRID),
    "HalfNormal": (lambda: D.HalfNormal(1.5), None, GRID),
    "Gumbel": (lambda: D.Gumbel(0.5, 1.5), None, WIDE),
    "StudentT": (lambda: D.StudentT(12.0, 0.5, 0.75), None, WIDE),
    "Poisson": (lambda: D.Poisson(2.5), lambda: D.Poisson(4.0), np.arange(60.0)),
    "Geometric": (lambda: D.Geometric(0.3), None, np.arange(120.0)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_densities(name):
    make, other, places = PAIRS[name]
    p, step = make(), places[1] - places[0]
    x = crisol.asarray(places.astype(np.float32))

    def total(values):
        return float(array_of(values, np.float64).sum() * step)

    log = array_of(p.log_prob(x), np.float64)
    weight = np.exp(log)
    assert total(weight) == pytest.approx(1, rel=2e-3)
    mean = total(weight * places)
    assert float(p.mean) == pytest.approx(mean, rel=5e-3, abs=5e-3)
    assert float(p.variance) == pytest.approx(total(weight * (places - mean) ** 2), rel=1e-2)
    if name not in ("StudentT", "Poisson"):
        assert float(p.entropy()) == pytest.approx(-total(weight * np.maximum(log, -100)), rel=5e-3, abs=5e-3)
    if other is not None:
        ratio = log - array_of(other().log_prob(x), np.float64)
        assert float(D.kl_divergence(p, other())) == pytest.approx(total(weight * ratio), rel=1e-2, abs=5e-3)
    drawn = array_of(p.sample((20_000,)))
    assert drawn.mean() == pytest.approx(mean, abs=0.05 * np.sqrt(float(p.variance)) + 1e-3)


def test_dirichlet():
    p, q = D.Dirichlet(crisol.asarray([2.5, 1.5])), D.Beta(2.5, 1.5)
    x = crisol.asarray([[0.25, 0.75], [0.5, 0.5]])
    assert_close(p.log_prob(x), q.log_prob(x[:, 0]))
    assert_close(p.entropy(), q.entropy())
    assert_close(p.mean[0], q.mean)
    assert_close(p.variance[0], q.variance)
    drawn = p.sample((5000,))
    assert drawn.shape == (5000, 2)
    assert_close(drawn.sum(-1), np.ones(5000))


def test_multivariate_normal():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]], np.float32)
    loc = crisol.asarray([[1.0, -1.0], [0.0, 2.0]]).requires_grad_()
    p = D.MultivariateNormal(loc, crisol.asarray(covariance))
    x = np.array([0.5, 0.25], np.float32)
    moved = x - array_of(loc.detach())
    quadratic = (moved @ np.linalg.inv(covariance) * moved).sum(1)
    assert_close(p.log_prob(crisol.asarray(x)).detach(),
                 -0.5 * quadratic - 0.5 * np.log(np.linalg.det(2 * np.pi * covariance)))
    assert_close(p.entropy(), np.full(2, 0.5 * np.log(np.linalg.det(2 * np.pi * np.e * covariance))))
    drawn = p.rsample((20_000,))
    assert drawn.shape == (20_000, 2, 2)
    drawn.sum().backward()
    assert_close(loc.grad, np.full((2, 2), 20_000.0))
    assert_close(np.cov(array_of(drawn.detach())[:, 0].T), covariance, 0.1, 0.1)
    q = D.MultivariateNormal(crisol.zeros(2), scale_tril=crisol.eye(2))
    wanted = 0.5 * (np.trace(covariance) + (array_of(loc.detach()) ** 2).sum(1) - 2 - np.log(np.linalg.det(covariance)))
    assert_close(D.kl_divergence(p, q).detach(), wanted)
    r = D.MultivariateNormal(loc, precision_matrix=crisol.asarray(np.linalg.inv(covariance)))
    assert_close(r.covariance_matrix[0], covariance, 1e-4, 1e-4)
    with pytest.raises(crisol.InvalidArgumentError, match="one of"):
        D.MultivariateNormal(loc)


def test_gradients_of_gamma_numbers():
    # -(dF/da) / (dF/dx) of the distribution function F(x, a).
    from crisol.distributions._gamma import slope

    # The expected values are those of PyTorch in float64.
    for a, x, expected in (
        (0.3, 0.1, 0.789404403), (0.3, 2.0, 3.563822700), (2.0, 0.5, 0.498024108), (2.5, 3.0, 1.169216476),
        (6.0, 9.0, 1.250657213), (20.0, 19.5, 0.995647520), (20.0, 30.0, 1.226597862), (40.0, 20.0, 0.696008094),
    ):  # fmt: skip
        assert abs(slope(crisol.asarray([a]), crisol.asarray([x])).item() / expected - 1) < 1e-5, (a, x)
    for make in (
        lambda c: crisol.distributions.Gamma(c, 2.0),
        lambda c: crisol.distributions.Beta(c, 1.5),
        lambda c: crisol.distributions.Chi2(c),
    ):
        crisol.manual_seed(0)
        c = crisol.tensor([2.5]).requires_grad_()
        distribution = make(c)
        assert distribution.has_rsample
        distribution.rsample((20000,)).mean().backward()
        drawn = c.grad.item()
        c.grad = None
        make(c).mean.sum().backward()
        assert abs(drawn - c.grad.item()) < 0.05 * max(0.2, abs(c.grad.item()))
    c = crisol.tensor([1.0, 2.0, 3.0]).requires_grad_()
    crisol.distributions.Dirichlet(c).rsample((20000,)).mean(0)[0].backward()
    np.testing.assert_allclose(array_of(c.grad), np.array([5, -1, -1]) / 36, atol=0.01)
