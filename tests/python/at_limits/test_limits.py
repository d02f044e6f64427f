"""Values, gradients and second gradients at the limits of the functions' domains, compared with PyTorch's (limits.py)."""

import math
from pathlib import Path

import crisol
import limits
import numpy as np
import pytest
from numeric import array_of

largest = 3.4028235e38
inf, nan = math.inf, math.nan

# First inputs where the library has another value than PyTorch, and why (docs/elementwise.md).
own = {
    "sign": ([nan], "NaN has no sign; NumPy gives NaN too"),
    "gelu": ([-inf], "the limit of the derivative"),
    "gelu_tanh": ([-inf], "the limit of the derivative"),
    "lgamma": ([p for p in limits.points if p < 0], "the second derivative at whole numbers is infinite"),
    "pow 0.5": ([-0.0], "the second derivative is that of sqrt"),
    "pow 1.5": ([-0.0, -inf], "C's pow, not x sqrt(x)"),
    "softplus 2 3": ([1.5], "the second derivative at the threshold is that of the curve"),
    "lerp 1 b a of two": ([-1.0, -inf], "1 - inf"),
}
own_vectors = {
    "prod": ([inf, -inf, nan], "the product of the other elements"),
    "max": ([nan], "the gradient goes to NaN alone"),
    "min": ([nan], "the gradient goes to NaN alone"),
    "cumprod": ([nan], "the result that has not read NaN"),
    "var": ([4.0], "0 / 0"),
}


def differs(case, x, is_second):
    """Other places where the library's derivatives are not PyTorch's."""
    name = case[0]
    if name.startswith("norm -1"):
        return is_second and inf in x  # infinity times 0
    if name == "remainder of two":
        return any(map(math.isinf, x))  # from -floor_divide(a, b), which follows the Array API standard there
    if name == "prelu of two":
        return is_second and x[0] == 0  # the slope of the left side, as the first derivative
    # In float32 a power such as 1e-15 - 1 is rounded, and numbers below 1e-38 overflow where they are divided by.
    tiny = any(0 < abs(v) < 1e-10 for v in x)
    return tiny and (is_second if len(x) > 1 or name == "0 / x" else False) or tiny and name == "pow of two"


def tensor(values):
    return crisol.asarray(array_of(values, dtype=np.float32))


def expected_results():
    lines = (Path(__file__).parent / "limits.tsv").read_text().splitlines()
    rows = (line.split("\t") for line in lines)
    return {row[0]: [[float(v) for v in values.split()] for values in row[1:]] for row in rows}


def equal(x, right, tolerance):
    if math.isnan(x) or math.isnan(right):
        return math.isnan(x) and math.isnan(right)
    if abs(right) > largest:  # Too large for float32.
        return x == math.copysign(inf, right)
    return math.isfinite(x) and abs(x - right) <= tolerance * abs(right) + 1e-7


def excused(case, x):
    """Whether PyTorch's value is not demanded for that input, or these inputs."""
    name, _, inputs, apart = case
    if not apart:
        special, _ = own_vectors.get(name.split()[0], ([], ""))
        return any(v == s or (math.isnan(v) and math.isnan(s)) for v in inputs[0] for s in special)
    special, _ = own.get(name, ([], ""))
    return any(str(x[0]) == str(s) for s in special)


def differences(case, found, right):
    inputs, apart = case[2:]
    for k, (values, rights) in enumerate(zip(found, right)):
        assert len(values) == len(rights)
        for i, (x, r) in enumerate(zip(values, rights)):
            value = right[0][i if apart else 0]
            is_second = k > len(inputs)
            at = [numbers[i] for numbers in inputs] if apart else inputs[0]
            # Where PyTorch's derivative of a number is NaN, a number is as good. So is a second derivative where the
            # value is NaN.
            doubtful = k > 0 and math.isnan(r) and not math.isnan(value) or is_second and math.isnan(value)
            wrong = not equal(x, r, 1e-3 if is_second else 1e-4)
            if wrong and not doubtful and not excused(case, at) and not (k > 0 and differs(case, at, is_second)):
                yield f"{'value' if k == 0 else 'derivative'} {k} at {at}: {x}, PyTorch has {r}"


@pytest.mark.parametrize("case", limits.cases(), ids=lambda case: case[0])
def test_limits(case):
    right = expected_results()[case[0]]
    wrong = list(differences(case, limits.results(crisol, tensor, case, twice=False), right))
    try:
        found = limits.results(crisol, tensor, case)
    except ValueError as error:
        assert "has no gradient of its gradient" in str(error)
    else:
        wrong += differences(case, found, right)
    assert not wrong, "\n".join(wrong)


def test_variance_beside_infinity():
    """Also where infinity is the last element of a row or column."""
    for place in range(3):
        x = np.ones((3, 40), np.float32)
        x[place] = inf
        for y in (crisol.var(tensor(x), axis=0), crisol.std(tensor(x.T), axis=1)):
            assert np.isnan(array_of(y)).all()
