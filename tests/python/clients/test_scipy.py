"""SciPy's functions for any arrays of the standard. SCIPY_ARRAY_API=1 must be set before SciPy is imported, so they run in
a Python of their own."""

import os
import subprocess
import sys
import textwrap

import pytest

PRELUDE = """
import numpy as np
import crisol
rng = np.random.default_rng(3)

def check(got, expected, rtol=2e-5, atol=1e-6):
    assert isinstance(got, crisol.Tensor), type(got)
    np.testing.assert_allclose(np.asarray(got), expected, rtol=rtol, atol=atol)

def both(array):
    array = np.asarray(array, dtype=np.float32)
    return array, crisol.asarray(array)
"""

PROGRAMS = {
    "special": """
        from scipy import special
        x, y = both(rng.uniform(-2, 2, (4, 5)))
        check(special.logsumexp(y, axis=1), special.logsumexp(x, axis=1))
        check(special.softmax(y, axis=0), special.softmax(x, axis=0))
        check(special.log_softmax(y, axis=0), special.log_softmax(x, axis=0))
        check(special.expit(y), special.expit(x))
        check(special.xlogy(abs(y), abs(y)), special.xlogy(abs(x), abs(x)))
    """,
    "stats": """
        from scipy import stats
        x, y = both(rng.normal(size=(50, 3)))
        check(stats.zscore(y, axis=0), stats.zscore(x, axis=0))
        check(stats.skew(y, axis=0), stats.skew(x, axis=0), rtol=1e-4)
        check(stats.kurtosis(y, axis=0), stats.kurtosis(x, axis=0), rtol=1e-4)
        check(stats.sem(y, axis=0), stats.sem(x, axis=0))
        check(stats.moment(y, 3, axis=0), stats.moment(x, 3, axis=0), rtol=1e-4, atol=1e-5)
        check(stats.gmean(abs(y), axis=0), stats.gmean(abs(x), axis=0))
        check(stats.hmean(abs(y), axis=0), stats.hmean(abs(x), axis=0), rtol=1e-4)
        check(stats.variation(abs(y), axis=0), stats.variation(abs(x), axis=0))
    """,
    "integrate": """
        from scipy import integrate
        x, y = both(rng.normal(size=(3, 21)))
        check(integrate.trapezoid(y, dx=0.1, axis=1), integrate.trapezoid(x, dx=0.1, axis=1))
    """,
    "cluster": """
        from scipy.cluster import vq
        x, y = both(rng.normal(size=(40, 3)))
        check(vq.whiten(y), vq.whiten(x))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions(name):
    result = subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(PROGRAMS[name])],
        env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True, text=True,
    )
    assert result.returncode == 0, result.stderr[-3000:]
