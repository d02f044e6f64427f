"""Distributions whose numbers are checked by each other: densities by integrals, cdf() by its slope, icdf() by cdf()."""

import math

import crisol
import numpy as np
import pytest
from crisol import distributions as D
from numeric import array_of, assert_close

t = crisol.tensor
CONTINUOUS = {
    "Normal": (lambda: D.Normal(0.3, 1.2), -10, 10),
    "Laplace": (lambda: D.Laplace(0.3, 0.8), -14, 14),
    "Uniform": (lambda: D.Uniform(-1.0, 2.0), -0.9999, 1.9999),
    "Exponential": (lambda: D.Exponential(1.7), 1e-5, 20),
    "Gumbel": (lambda: D.Gumbel(0.3, 1.1), -6, 25),
    "Gamma": (lambda: D.Gamma(2.5, 1.5), 1e-4, 25),
    "Chi2": (lambda: D.Chi2(4.0), 1e-4, 60),
    "LogNormal": (lambda: D.LogNormal(0.2, 0.4), 1e-2, 20),
    "HalfNormal": (lambda: D.HalfNormal(1.3), 1e-5, 12),
    "Weibull": (lambda: D.Weibull(1.5, 2.2), 1e-4, 12),
    "InverseGamma": (lambda: D.InverseGamma(6.0, 4.0), 1e-2, 60),
    "Kumaraswamy": (lambda: D.Kumaraswamy(2.5, 3.0), 1e-4, 1 - 1e-4),
    "FisherSnedecor": (lambda: D.FisherSnedecor(6.0, 30.0), 1e-4, 60),
    "GeneralizedPareto": (lambda: D.GeneralizedPareto(0.5, 1.5, -0.2), 0.5, 7.999),
    "GeneralizedPareto of 0": (lambda: D.GeneralizedPareto(0.0, 1.0, 0.0), 0.0, 25),
    "ContinuousBernoulli": (lambda: D.ContinuousBernoulli(0.2), 0.0, 1.0),
    "ContinuousBernoulli of 1/2": (lambda: D.ContinuousBernoulli(0.5002), 0.0, 1.0),
    "StudentT": (lambda: D.StudentT(9.0, 0.3, 1.2), -60, 60),
}
QUANTILES = ["Normal", "Laplace", "Uniform", "Exponential", "Gumbel", "LogNormal", "HalfNormal", "Weibull", "Kumaraswamy"]
QUANTILES += ["GeneralizedPareto", "GeneralizedPareto of 0", "ContinuousBernoulli", "ContinuousBernoulli of 1/2"]


def integral(values, points):
    return float(np.sum((values[1:] + values[:-1]) / 2 * np.diff(points)))


@pytest.mark.parametrize("name", CONTINUOUS)
def test_moments_are_integrals_of_the_density(name):
    make, low, high = CONTINUOUS[name]
    d = make()
    points = np.linspace(low, high, 40001).astype(np.float32)
    x = points.astype(np.float64)
    logs = array_of(d.log_prob(t(points))).astype(np.float64)
    density = np.exp(logs)
    assert integral(density, x) == pytest.approx(1, abs=2e-3)
    mean = integral(density * x, x)
    assert float(d.mean) == pytest.approx(mean, abs=5e-3, rel=5e-3)
    assert float(d.variance) == pytest.approx(integral(density * (x - mean) ** 2, x), abs=2e-2, rel=2e-2)
    assert float(d.entropy() if name != "FisherSnedecor" else 0) == pytest.approx(
        -integral(density * np.maximum(logs, -80), x) if name != "FisherSnedecor" else 0, abs=1e-2, rel=1e-2
    )
    drawn = array_of(d.sample((4000,)))
    assert np.abs(drawn.mean() - mean) < 6 * math.sqrt(float(d.variance) / 4000)
    assert array_of(d.support.check(t(drawn))).all()
    if name not in ("Uniform", "ContinuousBernoulli", "ContinuousBernoulli of 1/2"):
        assert float(d.log_prob(d.mode + 1e-6)) >= logs.max() - 1e-3


@pytest.mark.parametrize("name", [*QUANTILES, "Gamma", "Chi2", "InverseGamma"])
def test_cdf_grows_like_the_density(name):
    d = CONTINUOUS[name][0]()
    if name in QUANTILES:
        u = np.array([0.02, 0.3, 0.5, 0.8, 0.97], np.float32)
        x = d.icdf(t(u))
        assert_close(d.cdf(x), u, atol=2e-5)
    else:
        x = t([0.3, 0.8, 1.5, 3.0])
    step = 1e-2
    slope = (d.cdf(x + step) - d.cdf(x - step)) / (2 * step)
    assert_close(slope, np.exp(array_of(d.log_prob(x))), atol=1e-2)


def test_cauchy_and_its_half():
    whole, half = D.Cauchy(0.0, 1.5), D.HalfCauchy(1.5)
    u = t([0.1, 0.5, 0.9])
    assert_close(whole.cdf(whole.icdf(u)), array_of(u), atol=1e-5)
    assert_close(half.cdf(half.icdf(u)), array_of(u), atol=1e-5)
    assert half.cdf(t(1.5)).item() == pytest.approx(0.5, abs=1e-6)
    assert half.log_prob(t(-1.0)).item() == -math.inf and half.mode.item() == 0
    assert half.entropy().item() == pytest.approx(math.log(2 * math.pi * 1.5), abs=1e-5)


def test_modes_and_values_of_counts():
    bernoulli = D.Bernoulli(t([0.2, 0.9]))
    assert bernoulli.mode.tolist() == [0, 1]
    assert bernoulli.enumerate_support().tolist() == [[0, 0], [1, 1]]
    assert bernoulli.enumerate_support(expand=False).tolist() == [[0], [1]]
    categories = D.Categorical(t([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]]))
    assert categories.mode.tolist() == [1, 0] and categories.enumerate_support().shape == (3, 2)
    assert categories.support.check(t([3, 1])).tolist() == [False, True]
    hot = D.OneHotCategorical(t([[0.1, 0.7, 0.2]]))
    assert hot.mode.tolist() == [[0, 1, 0]] and hot.enumerate_support()[2].tolist() == [[0, 0, 1]]
    assert_close(hot.mean, array_of(hot.probs))
    binomial = D.Binomial(5, t([0.5]))
    assert_close(binomial.log_prob(binomial.enumerate_support()).exp().sum(0), [1.0], atol=1e-5)
    assert D.Poisson(3.5).mode.item() == 3 and D.NegativeBinomial(3.0, 0.5).mode.item() == 2
    assert D.Dirichlet(t([3.0, 2.0])).mode.tolist() == pytest.approx([2 / 3, 1 / 3])
    assert D.Beta(3.0, 2.0).mode.item() == pytest.approx(2 / 3)


def test_one_hot_numbers_with_the_gradient_of_the_probabilities():
    logits = t([[0.1, 0.7, -0.2]], requires_grad=True)
    weights = t([1.0, 2.0, 5.0])
    drawn = D.OneHotCategoricalStraightThrough(logits=logits).rsample((6,))
    assert drawn.detach().round().sum(-1).tolist() == [[1]] * 6
    (drawn * weights).sum().backward()
    wanted = t([[0.1, 0.7, -0.2]], requires_grad=True)
    (6 * (wanted.softmax(-1) * weights).sum()).backward()
    assert_close(logits.grad, array_of(wanted.grad), atol=1e-5)


def test_larger_batches():
    d = D.Independent(D.Normal(crisol.zeros(2, 3), crisol.ones(2, 3)), 1)
    large = d.expand((4, 2))
    assert large.batch_shape == (4, 2) and large.event_shape == (3,) and large.sample((5,)).shape == (5, 4, 2, 3)
    assert d.batch_shape == (2,)  # The distribution itself stays.
    value = crisol.randn(4, 2, 3)
    assert_close(large.log_prob(value), array_of(d.log_prob(value)))
    assert D.Categorical(crisol.ones(3)).expand((5,)).sample().shape == (5,)


def test_covariances_of_low_rank():
    loc, factor, diagonal = crisol.randn(2, 4), crisol.randn(2, 4, 2), crisol.rand(2, 4) + 0.5
    low = D.LowRankMultivariateNormal(loc, factor, diagonal)
    full = D.MultivariateNormal(loc, low.covariance_matrix)
    value = crisol.randn(3, 2, 4)
    assert_close(low.log_prob(value), array_of(full.log_prob(value)), atol=1e-3)
    assert_close(low.entropy(), array_of(full.entropy()), atol=1e-4)
    assert_close(low.variance, array_of(full.variance), atol=1e-4)
    assert_close(low.scale_tril, array_of(full.scale_tril), atol=1e-4)
    drawn = array_of(low.sample((5000,)))
    assert_close(np.cov(drawn[:, 0].T), array_of(low.covariance_matrix[0]), atol=1.0)
    with pytest.raises(ValueError, match="cov_factor"):
        D.LowRankMultivariateNormal(loc, factor.mT, diagonal)


def test_matrices_of_one_row_are_gamma_numbers():
    wishart, gamma = D.Wishart(5.0, t([[2.0]])), D.Gamma(2.5, 0.25)
    value = t([0.5, 3.0, 9.0])
    assert_close(wishart.log_prob(value.reshape(3, 1, 1)), array_of(gamma.log_prob(value)), atol=1e-4)
    assert wishart.entropy().item() == pytest.approx(gamma.entropy().item(), abs=1e-4)
    assert wishart.variance.item() == pytest.approx(gamma.variance.item(), rel=1e-5)
    matrix = t([[2.0, 0.5], [0.5, 1.0]])
    wide = D.Wishart(6.0, matrix)
    drawn = wide.sample((4000,))
    assert_close(drawn.mean(0), array_of(wide.mean), atol=0.6)
    assert wide.support.check(drawn).all() and drawn.shape == (4000, 2, 2)


def test_correlations():
    d = D.LKJCholesky(2, 1.5)
    # For two rows, the correlation is 2 b - 1, where b is a beta number with both concentrations 1.5.
    r = np.array([-0.6, 0.1, 0.8], np.float32)
    factor = np.stack([np.stack([0 * r + 1, 0 * r], -1), np.stack([r, np.sqrt(1 - r**2)], -1)], -2)
    wanted = array_of(D.Beta(1.5, 1.5).log_prob(t((r + 1) / 2))) - math.log(2)
    # The density of the factor is that of r, because the factor's free element is r.
    assert_close(d.log_prob(t(factor)), wanted, atol=1e-4)
    drawn = D.LKJCholesky(4, 2.0).sample((2000,))
    assert drawn.shape == (2000, 4, 4) and D.constraints.corr_cholesky.check(drawn).all()
    assert abs(float((drawn @ drawn.mT)[:, 0, 3].mean())) < 0.1


TRANSFORMS = {
    "StickBreaking": (D.StickBreakingTransform, (3,), lambda y: y[:-1]),
    "CorrCholesky": (D.CorrCholeskyTransform, (3,), lambda y: crisol.stack([y[1, 0], y[2, 0], y[2, 1]])),
    "Cat": (lambda: D.CatTransform([D.ExpTransform(), D.TanhTransform()], 0, [2, 1]), (3,), lambda y: y),
    "Stack": (lambda: D.StackTransform([D.ExpTransform(), D.TanhTransform()], 0), (2,), lambda y: y),
    "Independent": (lambda: D.IndependentTransform(D.ExpTransform(), 1), (3,), lambda y: y),
    "CumulativeDistribution": (lambda: D.CumulativeDistributionTransform(D.Normal(0.0, 1.0)), (3,), lambda y: y),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_of_events(name):
    make, shape, free = TRANSFORMS[name]
    f, x = make(), crisol.randn(shape) * 0.7
    y = f(x)
    assert_close(f.inv(y), array_of(x), atol=1e-3)
    jacobian = crisol.autograd.functional.jacobian(lambda v: free(f(v)), x)
    assert float(f.log_abs_det_jacobian(x, y).sum()) == pytest.approx(float(jacobian.slogdet().logabsdet), abs=1e-3)


def test_transforms_of_shapes_and_matrices():
    x = crisol.randn(4, 2, 3)
    f = D.ReshapeTransform((2, 3), (6,))
    assert f(x).shape == (4, 6) and (f.inv(f(x)) == x).all() and f.log_abs_det_jacobian(x, f(x)).tolist() == [0] * 4
    square = crisol.randn(3, 3)
    for transform, constraint in (
        (D.LowerCholeskyTransform(), D.constraints.lower_cholesky),
        (D.PositiveDefiniteTransform(), D.constraints.positive_definite),
    ):
        y = transform(square)
        assert constraint.check(y).item()
        assert_close(transform.inv(y), np.tril(array_of(square)), atol=1e-3)
    d = D.LogisticNormal(crisol.zeros(3), crisol.ones(3))
    drawn = d.rsample((5,))
    assert drawn.shape == (5, 4) and d.event_shape == (4,) and d.log_prob(drawn).shape == (5,)
    assert_close(drawn.sum(-1), np.ones(5), atol=1e-5)


@pytest.mark.parametrize("registry", [D.biject_to, D.transform_to])
def test_functions_to_sets(registry):
    c, x = D.constraints, crisol.randn(5, 3)
    sets = [c.real, c.positive, c.greater_than(2.0), c.less_than(-1.0), c.unit_interval, c.interval(-2.0, 5.0), c.simplex]
    sets += [c.independent(c.positive, 1), c.corr_cholesky, c.stack([c.positive, c.real, c.unit_interval], 1)]
    sets += [c.cat([c.positive, c.less_than(0.0)], 1, [2, 1]), D.Gamma(1.0, 1.0).support]
    for constraint in sets:
        assert array_of(constraint.check(registry(constraint)(x))).all(), constraint
    assert c.positive_definite.check(registry(c.positive_definite)(crisol.randn(4, 3, 3))).all()
    with pytest.raises(NotImplementedError, match="Boolean"):
        registry(c.boolean)
    own = D.ConstraintRegistry()
    own.register(c.real, lambda constraint: D.ExpTransform())
    assert isinstance(own(c.real), D.ExpTransform)


def test_sets_refuse_other_values():
    c = D.constraints
    assert c.simplex.check(t([[0.2, 0.8], [0.2, 0.9]])).tolist() == [True, False]
    assert c.nonnegative_integer.check(t([0.0, 1.5, -1.0])).tolist() == [True, False, False]
    assert c.positive_definite.check(t([[[2.0, 0.0], [0.0, 1.0]], [[0.0, 2.0], [2.0, 0.0]]])).tolist() == [True, False]
    assert c.one_hot.check(t([[0.0, 1.0], [1.0, 1.0]])).tolist() == [True, False]
    assert repr(c.interval(0, 2)) == "Interval(lower_bound=0, upper_bound=2)" and c.simplex.event_dim == 1
    assert set(D.Normal(0.0, 1.0).arg_constraints) == {"loc", "scale"}


def test_divergences_that_programs_add():
    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, Mine)
    def _(p, q):
        return t(42.0)

    assert D.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0)).item() == 42
    assert D.kl_divergence(D.Normal(0.0, 1.0), Mine(0.0, 1.0)).item() == 0
