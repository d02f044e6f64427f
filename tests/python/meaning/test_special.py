"""Special functions beside tabulated values, series and sums in double."""

import math

import crisol
import numpy as np
import pytest
from crisol import special
from numeric import array_of, check_gradients

# Abramowitz and Stegun: tables 9.1, 9.8, 10.11 and 7.1, and the values at the borders of the approximations.
VALUES = {
    "bessel_j0": {0.0: 1.0, 1.0: 0.7651976866, 3.0: -0.2600519549, -7.5: 0.2663396579, 15.0: -0.0142244728},
    "bessel_j1": {0.0: 0.0, 1.0: 0.4400505857, 3.0: 0.3390589585, -7.5: -0.1352484276, 15.0: 0.2051040386},
    "bessel_y0": {0.0: -math.inf, 0.5: -0.4445187335, 3.0: 0.3768500100, 9.0: 0.2499366983, -1.0: math.nan},
    "bessel_y1": {0.0: -math.inf, 0.5: -1.4714723927, 3.0: 0.3246744248, 9.0: 0.1043145752, -1.0: math.nan},
    "modified_bessel_i0": {0.0: 1.0, 2.0: 2.2795853023, -4.0: 11.301921952},
    "modified_bessel_i1": {0.0: 0.0, 2.0: 1.5906368546, -4.0: -9.7594651537},
    "modified_bessel_k0": {0.0: math.inf, 0.5: 0.9244190712, 2.0: 0.1138938727, 5.0: 0.0036910983, -1.0: math.nan},
    "modified_bessel_k1": {0.0: math.inf, 0.5: 1.6564411200, 2.0: 0.1398658818, 5.0: 0.0040446134, -1.0: math.nan},
    "scaled_modified_bessel_k0": {0.5: 1.5241093857, 50.0: 0.1768071585},
    "scaled_modified_bessel_k1": {0.5: 2.7310097082, 50.0: 0.1785664788},
    "spherical_bessel_j0": {0.0: 1.0, 2.0: 0.4546487134, -2.0: 0.4546487134, math.inf: 0.0},
    "airy_ai": {-10.0: 0.0402412385, -2.0: 0.2274074283, 0.0: 0.3550280539, 1.0: 0.1352924163, 5.0: 1.083444281e-4},
    "erfcx": {-1.0: 5.0089800801, 0.0: 1.0, 2.0: 0.2553956763, 50.0: 0.0112815362, 1e4: 5.641895807e-5},
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    points = np.array(list(VALUES[name]), np.float32)
    found = array_of(getattr(special, name)(crisol.asarray(points)))
    np.testing.assert_allclose(found, list(VALUES[name].values()), rtol=3e-6, atol=3e-7)
    inside = np.array([x for x, value in VALUES[name].items() if 0.4 < abs(x) < 16 and value == value], np.float32)
    check_gradients(getattr(special, name), inside, step=1e-2)


def shares(a, x):
    """gammainc() of single numbers, as the sum of its series."""
    term = total = 1 / a
    for n in range(1, 4000):
        term *= x / (a + n)
        total += term
    return total * math.exp(a * math.log(x) - x - math.lgamma(a))


def test_incomplete_gamma():
    a, x = np.meshgrid([0.1, 0.5, 2.5, 9.0, 20.0, 300.0], [1e-3, 0.3, 1.0, 4.0, 9.5, 25.0, 290.0, 310.0], indexing="ij")
    wanted = np.vectorize(shares)(a, x)
    a, x = (crisol.asarray(v.astype(np.float32)) for v in (a, x))
    np.testing.assert_allclose(array_of(special.gammainc(a, x)), wanted, rtol=3e-5, atol=2e-7)
    np.testing.assert_allclose(array_of(special.gammaincc(a, x)), 1 - wanted, rtol=3e-4, atol=2e-6)
    edges = special.gammainc(crisol.tensor([0.0, 0.0, 1.0, 1.0, -1.0]), crisol.tensor([1.0, 0.0, 0.0, math.inf, 1.0]))
    np.testing.assert_array_equal(array_of(edges), [1, math.nan, 0, 1, math.nan])
    assert crisol.igammac(a, x).shape == a.shape and crisol.igamma(a.half(), x.half()).dtype is crisol.float16


# 17 digits, from sums with 30 digits.
# fmt: off
DOUBLES = {
    "erfcx": {-5.0: 144009798674.66104, 2.0: 0.25539567631050574, 5.0: 0.11070463773306863,
        8.0: 0.069985166200880928},
    "log_ndtr": {-37.0: -689.03058557689059, -5.1: -15.588487091871466, -1.0: -1.8410216450092635,
                 0.5: -0.36894641528865639, 5.0: -2.8665161296376359e-7, 8.0: -6.2209605742717858e-16},
    "i0": {-1.5: 1.6467231897728908, 8.0: 427.56411572180479, 20.0: 43558282.559553533},
    "i0e": {-1.5: 0.36743360905415834, 8.0: 0.14343178185685031, 60.0: 0.051611549173609841},
    "i1": {-1.5: -0.98166642857790759, 8.0: 399.8731367825601, 20.0: 42454973.38512777},
    "i1e": {-1.5: -0.21903938742092567, 8.0: 0.13414249329269818, 60.0: 0.051179630189028718},
    "bessel_j0": {1.0: 0.76519768655796655, 5.0: -0.1775967713143383, -8.0: 0.17165080713755391,
        30.0: -0.086367983581040211},
    "bessel_j1": {1.0: 0.44005058574493352, 5.0: -0.32757913759146522, -8.0: -0.23463634685391462,
        30.0: -0.11875106261662294},
    "bessel_y0": {0.5: -0.44451873350670656, 5.0: -0.30851762524903378, 8.0: 0.22352148938756622,
        30.0: -0.11729573168666403},
    "bessel_y1": {0.5: -1.4714723926702431, 5.0: 0.14786314339122684, 8.0: -0.15806046173124749,
        30.0: 0.084425570661747235},
    "modified_bessel_k0": {0.5: 0.92441907122766586, 2.0: 0.11389387274953344, 9.0: 5.0881312956459248e-5},
    "modified_bessel_k1": {0.5: 1.6564411200033009, 2.0: 0.13986588181652243, 9.0: 5.3637016379451945e-5},
    "scaled_modified_bessel_k0": {0.5: 1.5241093857739095, 2.0: 0.84156821507077142, 90.0: 0.13192855628918504},
    "scaled_modified_bessel_k1": {0.5: 2.7310097082117857, 2.0: 1.0334768470686886, 90.0: 0.13265947901608844},
    "airy_ai": {-6.0: -0.32914517362982311, -2.5: -0.11232506769296609, 0.5: 0.23169360648083349,
        1.5: 0.07174949700810541, 7.0: 7.4921288639971671e-7},
}
# fmt: on


@pytest.mark.parametrize("dtype, bound", [(crisol.float32, 2e-6), (crisol.float64, 1e-13)])
@pytest.mark.parametrize("name", DOUBLES)
def test_values_to_the_precision_of_the_dtype(name, dtype, bound):
    points = crisol.tensor(list(DOUBLES[name])).to(dtype)
    inexact = array_of(points, np.float64) - list(DOUBLES[name])  # -5.1 in float32
    keep = inexact == 0
    found = array_of(getattr(special, name)(points), np.float64)
    np.testing.assert_allclose(found[keep], np.array(list(DOUBLES[name].values()))[keep], rtol=bound)


def test_incomplete_gamma_of_doubles():
    a, x = np.meshgrid(
        [1e-3, 0.5, 2.5, 9.9, 10.1, 300.0], [1e-3, 0.3, 1.0, 4.0, 9.5, 25.0, 290.0, 310.0], indexing="ij"
    )
    wanted = np.vectorize(shares)(a, x)
    np.testing.assert_allclose(
        array_of(special.gammainc(*map(crisol.asarray, (a, x)))), wanted, rtol=1e-11, atol=1e-290
    )
    upper = array_of(special.gammaincc(*map(crisol.asarray, (a, x))))
    np.testing.assert_allclose(upper, 1 - wanted, atol=1e-12)
    # Sums of the first terms of exp(50), without cancellation.
    assert special.gammaincc(crisol.tensor([2.0], dtype=crisol.float64), 50.0).item() == pytest.approx(
        51 * math.exp(-50)
    )


def test_gradient_of_log_ndtr():
    x = crisol.tensor([-200.0, -5.5, -1.0, 0.5, 9.0]).requires_grad_()
    special.log_ndtr(x).sum().backward()
    np.testing.assert_allclose(array_of(x.grad), [200.005, 5.6714103, 1.5251353, 0.50916043, 1.0279774e-18], rtol=1e-5)


POLYNOMIALS = {
    "chebyshev_polynomial_t": lambda x: 8 * x**4 - 8 * x**2 + 1,
    "chebyshev_polynomial_u": lambda x: 16 * x**4 - 12 * x**2 + 1,
    "chebyshev_polynomial_v": lambda x: 16 * x**4 - 8 * x**3 - 12 * x**2 + 4 * x + 1,
    "chebyshev_polynomial_w": lambda x: 16 * x**4 + 8 * x**3 - 12 * x**2 - 4 * x + 1,
    "hermite_polynomial_h": lambda x: 16 * x**4 - 48 * x**2 + 12,
    "hermite_polynomial_he": lambda x: x**4 - 6 * x**2 + 3,
    "laguerre_polynomial_l": lambda x: (x**4 - 16 * x**3 + 72 * x**2 - 96 * x + 24) / 24,
    "legendre_polynomial_p": lambda x: (35 * x**4 - 30 * x**2 + 3) / 8,
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name):
    x = np.linspace(-1.5, 1.5, 13).astype(np.float32)
    function = getattr(special, name)
    wanted = POLYNOMIALS[name](x.astype(np.float64))
    np.testing.assert_allclose(array_of(function(crisol.asarray(x), 4)), wanted, rtol=1e-5, atol=1e-5)
    rows = array_of(function(crisol.asarray(x).unsqueeze(1), crisol.tensor([-1, 0, 4])))
    np.testing.assert_allclose(rows, np.stack([0 * x, 0 * x + 1, wanted], 1), rtol=1e-5, atol=1e-5)
    assert function(2.0, crisol.tensor([0])).tolist() == [1]
    check_gradients(lambda t: function(t, 4), x, step=1e-2)
    if name.startswith("chebyshev"):
        shifted = getattr(special, f"shifted_{name}")(crisol.asarray((x + 1) / 2), 4)
        np.testing.assert_allclose(array_of(shifted), wanted, rtol=1e-4, atol=1e-4)
        of_bytes = getattr(special, f"shifted_{name}")(crisol.tensor([0], dtype=crisol.uint8), 4)
        assert of_bytes.item() == pytest.approx(POLYNOMIALS[name](-1.0), abs=1e-5)


@pytest.mark.parametrize("dtype", [crisol.float16, crisol.bfloat16])
@pytest.mark.parametrize("name", ["sinc", "log_ndtr", "ndtri", "erfcx"])
def test_halves_are_rounded_once(name, dtype):
    """float32 between the steps, so that sinc(1) is not the rounding of pi."""
    x = crisol.linspace(0.02, 0.98, 41) if name == "ndtri" else crisol.linspace(-3, 3, 25)
    x, function = x.to(dtype), getattr(special, name)
    assert function(x).dtype is dtype
    np.testing.assert_array_equal(array_of(function(x).float()), array_of(function(x.float()).to(dtype).float()))


def test_nextafter_of_halves():
    values = np.array([0, -0.0, 1, -1, 2.5, 65504, -65504, np.inf, -np.inf, np.nan, 6e-8, -6e-8], np.float16)
    a, b = (m.ravel() for m in np.meshgrid(values, values))
    differ = (a != b) & ~np.isnan(a) & ~np.isnan(b)
    found = crisol.nextafter(crisol.asarray(a), crisol.asarray(b)).numpy()
    np.testing.assert_array_equal(found.view(np.int16)[differ], np.nextafter(a, b).view(np.int16)[differ])
    assert np.isnan(found[np.isnan(a) | np.isnan(b)]).all()
    np.testing.assert_array_equal(found[a == b].view(np.int16), b[a == b].view(np.int16))  # As C has it.
    # bfloat16 is the upper half of float32.
    x = crisol.tensor([1.0, -1.0, 0.0, 3.0], dtype=crisol.bfloat16)
    assert crisol.nextafter(x, x + 1).tolist() == [1.0078125, -0.99609375, 2.0**-133, 3.015625]
    assert crisol.nextafter(x, crisol.zeros_like(x)).tolist() == [0.99609375, -0.99609375, 0.0, 2.984375]


def test_erfinv_of_float64_has_all_digits():
    near_one = 1 - np.logspace(-15, -1, 40)
    x = np.concatenate([np.linspace(-0.999, 0.999, 201), near_one, -near_one, np.logspace(-300, -1, 20)])
    y = array_of(crisol.erfinv(crisol.asarray(x)))
    inside = np.abs(y) < 1
    back = [math.erf(v) for v in y[inside]]
    np.testing.assert_allclose(back, x[inside], rtol=1e-14)
    rest = [math.erfc(abs(v)) for v in y[~inside]]
    np.testing.assert_allclose(rest, 1 - np.abs(x[~inside]), rtol=2e-14)
    assert crisol.erfinv(crisol.tensor([1.0, -1.0], dtype=crisol.float64)).tolist() == [math.inf, -math.inf]
    assert math.isnan(crisol.erfinv(crisol.tensor(1.5, dtype=crisol.float64)).item())
