"""scikit-learn with array_api_dispatch: estimators and metrics compute with crisol's tensors. SciPy's switch for arrays of
the standard must be set before SciPy is imported, so each part runs in a Python of its own."""

import os
import subprocess
import sys
import textwrap

import pytest

PRELUDE = """
import numpy as np
import crisol
import sklearn
from sklearn.datasets import make_classification, make_regression

sklearn.set_config(array_api_dispatch=True)

def tensors(*arrays):
    return [crisol.asarray(np.asarray(a, dtype=np.float32) if a.dtype.kind == "f" else a) for a in arrays]

def check(got, expected, rtol=1e-3, atol=1e-4):
    assert isinstance(got, crisol.Tensor), type(got)
    np.testing.assert_allclose(np.asarray(got), expected, rtol=rtol, atol=atol)
"""

PROGRAMS = {
    "PCA": """
        from sklearn.decomposition import PCA
        X = make_classification(200, 10, random_state=1)[0].astype(np.float32)
        x, = tensors(X)
        for solver in ("full", "covariance_eigh"):
            theirs = PCA(3, svd_solver=solver).fit(X)
            ours = PCA(3, svd_solver=solver).fit(x)
            check(ours.components_, theirs.components_)
            check(ours.explained_variance_, theirs.explained_variance_)
            check(ours.transform(x), theirs.transform(X), atol=1e-3)
            check(ours.inverse_transform(ours.transform(x)), theirs.inverse_transform(theirs.transform(X)), atol=1e-3)
    """,
    "Ridge": """
        from sklearn.linear_model import Ridge
        X, y = (a.astype(np.float32) for a in make_regression(200, 8, noise=1, random_state=2))
        x, t = tensors(X, y)
        theirs, ours = Ridge(0.5, solver="svd").fit(X, y), Ridge(0.5, solver="svd").fit(x, t)
        check(ours.coef_, theirs.coef_)
        check(ours.predict(x), theirs.predict(X), atol=1e-1)
    """,
    "LDA": """
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        X, y = make_classification(300, 6, n_informative=4, n_classes=3, random_state=3)
        x, t = tensors(X, y)
        theirs, ours = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(x, t)
        assert np.array_equal(np.asarray(ours.predict(x)), theirs.predict(X))
        check(ours.predict_proba(x), theirs.predict_proba(X), atol=1e-3)
    """,
    "scaling": """
        from sklearn.preprocessing import StandardScaler, MinMaxScaler, MaxAbsScaler, Normalizer
        X = np.random.default_rng(4).normal(size=(60, 5)).astype(np.float32)
        x, = tensors(X)
        for scaler in (StandardScaler, MinMaxScaler, MaxAbsScaler, Normalizer):
            check(scaler().fit_transform(x), scaler().fit_transform(X))
    """,
    "metrics": """
        from sklearn import metrics
        rng = np.random.default_rng(5)
        a, b = rng.normal(size=(2, 80)).astype(np.float32)
        for name in ("mean_squared_error", "mean_absolute_error", "r2_score", "mean_tweedie_deviance", "explained_variance_score"):
            f = getattr(metrics, name)
            np.testing.assert_allclose(float(f(*tensors(a, b))), f(a, b), rtol=1e-4)
        p, q = rng.integers(0, 3, (2, 100))
        for name in ("accuracy_score", "zero_one_loss", "hamming_loss"):
            f = getattr(metrics, name)
            np.testing.assert_allclose(float(f(*tensors(p, q))), f(p, q), rtol=1e-5)
        assert np.array_equal(np.asarray(metrics.confusion_matrix(*tensors(p, q))), metrics.confusion_matrix(p, q))
        np.testing.assert_allclose(float(metrics.f1_score(*tensors(p, q), average="macro")), metrics.f1_score(p, q, average="macro"), rtol=1e-5)
        u, v = rng.normal(size=(7, 4)).astype(np.float32), rng.normal(size=(5, 4)).astype(np.float32)
        for name in ("cosine_similarity", "euclidean_distances", "linear_kernel", "rbf_kernel", "polynomial_kernel"):
            f = getattr(metrics.pairwise, name)
            check(f(*tensors(u, v)), f(u, v))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_estimators(name):
    result = subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(PROGRAMS[name])],
        env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True, text=True,
    )
    assert result.returncode == 0, result.stderr[-3000:]
