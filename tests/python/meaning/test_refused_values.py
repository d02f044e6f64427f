"""Values that PyTorch refuses. What the host cannot see is an error of the next read, which names the function."""

import math

import crisol
import pytest
from crisol import linalg
from crisol.nn import functional as F

NAN, INF = math.nan, math.inf


def of(*values, dtype="float32"):
    return crisol.tensor(list(values), dtype=getattr(crisol, dtype))


AT_THE_READ = {
    "input above 1": ("binary_cross_entropy", lambda: F.binary_cross_entropy(of(0.5, 1.5), of(1.0, 1.0))),
    "input below 0": ("binary_cross_entropy", lambda: F.binary_cross_entropy(of(-1e-3, 0.5), of(1.0, 1.0))),
    "input NaN": ("binary_cross_entropy", lambda: F.binary_cross_entropy(of(NAN), of(1.0))),
    "target": ("binary_cross_entropy", lambda: F.binary_cross_entropy(of(0.5), of(1.5))),
    "float64": ("an element is 1.0000001", lambda: F.binary_cross_entropy(of(1.0000001, dtype="float64"), of(1, dtype="float64"))),
    "negative weight": ("multinomial", lambda: crisol.multinomial(of(1.0, -1.0), 1)),
    "NaN as weight": ("multinomial", lambda: crisol.multinomial(of(1.0, NAN), 1)),
    "infinite weight": ("multinomial", lambda: crisol.multinomial(of(1.0, INF), 1, replacement=True)),
    "no weight": ("multinomial", lambda: crisol.multinomial(of(0.0, 0.0), 1)),
    "probability": ("bernoulli", lambda: crisol.bernoulli(of(0.5, 2.0))),
    "probabilities of bernoulli_": ("bernoulli_", lambda: crisol.zeros(2).bernoulli_(of(-0.5, 0.5))),
    "Poisson's rate": ("poisson", lambda: crisol.poisson(of(1.0, -1.0))),
    "deviation": ("normal", lambda: crisol.normal(crisol.zeros(2), of(1.0, -1.0))),
}


@pytest.mark.parametrize("name", AT_THE_READ)
def test_the_next_read_fails(name):
    text, call = AT_THE_READ[name]
    with pytest.raises(RuntimeError, match=text):
        call().tolist()
    assert crisol.ones(2).tolist() == [1.0, 1.0]  # The error is told once.


def test_values_at_the_bounds_are_taken():
    assert F.binary_cross_entropy(of(0.0, 1.0), of(0.0, 1.0)).item() == 0.0
    assert crisol.bernoulli(of(0.0, 1.0)).tolist() == [0.0, 1.0]
    assert crisol.poisson(of(0.0)).tolist() == [0.0]
    assert crisol.normal(of(3.0), of(0.0)).tolist() == [3.0]


def test_one_wrong_element_of_many_is_found():
    x = crisol.full((300001,), 0.5)
    x[300000] = 1.25
    loss = F.binary_cross_entropy(x, crisol.ones(300001))
    with pytest.raises(RuntimeError, match=r"\[binary_cross_entropy\] an element is 1.25, which is not in \[0, 1\]"):
        loss.item()


AT_THE_CALL = {
    "normal": lambda: crisol.normal(0.0, -1.0, (2,)),
    "bernoulli_": lambda: crisol.empty(2).bernoulli_(2.0),
    "exponential_": lambda: crisol.empty(2).exponential_(0),
    "geometric_": lambda: crisol.empty(2).geometric_(1.5),
    "cauchy_": lambda: crisol.empty(2).cauchy_(0, -1),
    "log_normal_": lambda: crisol.empty(2).log_normal_(0, -1),
    "random_": lambda: crisol.empty(2).random_(3, 3),
    "floor_divide": lambda: crisol.tensor([5]) // 0,
    "remainder": lambda: crisol.tensor([5]) % 0,
    "fmod": lambda: crisol.tensor([5]).fmod(0),
    "floor_divide of div": lambda: crisol.div(crisol.tensor([5]), 0, rounding_mode="trunc"),
}


@pytest.mark.parametrize("name", AT_THE_CALL)
def test_numbers_are_refused(name):
    with pytest.raises(RuntimeError, match="randint" if name == "random_" else name.split()[0]):
        AT_THE_CALL[name]()


def test_fractions_are_divided_by_0():
    assert (of(1.0, -1.0) // 0).tolist() == [INF, -INF] and math.isnan((of(1.0) % 0).item())


MATRICES = {
    "svd": linalg.svd,
    "pinv": linalg.pinv,
    "matrix_rank": linalg.matrix_rank,
    "cond": linalg.cond,
    "matrix_norm": lambda x: linalg.matrix_norm(x, 2),
    "nuc": lambda x: linalg.matrix_norm(x, "nuc"),
    "lstsq": lambda x: linalg.lstsq(x, crisol.ones(2, 1)),
    "crisol.svd": crisol.svd,
}


@pytest.mark.parametrize("name", MATRICES)
def test_singular_values_of_nan(name):
    x = crisol.eye(2)
    x[0, 1] = NAN
    with pytest.raises(linalg.LinAlgError, match="a matrix has NaN"):
        MATRICES[name](x)
