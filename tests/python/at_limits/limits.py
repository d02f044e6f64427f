"""Functions at the limits of their domains: at 0, borders, ties, infinities, NaN and subnormal numbers.

limits.tsv has PyTorch's values in double. This command makes it, where PyTorch is installed:
    python3 tests/python/at_limits/limits.py > tests/python/at_limits/limits.tsv

A line is a case: its name, its value, the gradient for each input, and the gradients of these gradients for each input.
"""

import math

inf, nan = math.inf, math.nan

points = [
    0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, 3.0, -3.0, 6.0, -6.0, 20.0, -20.0, 88.0, -88.0, 150.0, -150.0,
    1e-8, -1e-8, 1e-30, -1e-30, 1e30, -1e30, 1e-40, -1e-40, inf, -inf, nan,
]  # fmt: skip
few = [0.0, -0.0, 1.0, -1.0, 2.5, 1e-15, 1e-30, 1e-40, inf, -inf, nan]
vectors = [
    [0.0, 0.0, 0.0], [3.0, -4.0, 0.0], [2.0, 2.0, -2.0], [1.0, 0.0, 0.0], [5.0, 5.0, 5.0], [4.0], [inf, 1.0, 2.0],
    [-inf, -inf, -inf], [-inf, 0.0, 1.0], [inf, inf, 1.0], [nan, 1.0, 2.0],
]  # fmt: skip


def named(names):
    """Functions that have one name in PyTorch and in crisol."""
    return {name: (lambda name: lambda m, f, *x: getattr(m, name)(*x))(name) for name in names.split()}


# Functions of one input, for each of `points`. `m` is torch or crisol, and `f` its nn.functional.
unary = named("""
    neg abs sign square reciprocal floor ceil round trunc sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin
    acos atan sinh cosh tanh asinh acosh atanh erf erfc lgamma sigmoid relu selu""")  # fmt: skip
unary |= {
    "clamp -1 2": lambda m, f, x: m.clamp(x, -1, 2),
    "clamp 0 0": lambda m, f, x: m.clamp(x, 0, 0),
    "clamp 2 -1": lambda m, f, x: m.clamp(x, 2, -1),
    "clip -2 6": lambda m, f, x: m.clip(x, -2, 6),
    "clip 1 none": lambda m, f, x: m.clip(x, 1, None),
    "clip none 1": lambda m, f, x: m.clip(x, None, 1),
    "pow 0": lambda m, f, x: x**0,
    "pow 1": lambda m, f, x: x**1,
    "pow 2": lambda m, f, x: x**2,
    "pow 3": lambda m, f, x: x**3,
    "pow 0.5": lambda m, f, x: x**0.5,
    "pow -1": lambda m, f, x: x**-1,
    "pow 1.5": lambda m, f, x: x**1.5,
    "0 pow": lambda m, f, x: 0.0**x,
    "1 pow": lambda m, f, x: 1.0**x,
    "2 pow": lambda m, f, x: 2.0**x,
    "x + 1": lambda m, f, x: x + 1,
    "2 - x": lambda m, f, x: 2 - x,
    "0 * x": lambda m, f, x: 0 * x,
    "0 / x": lambda m, f, x: 0 / x,
    "x / 0": lambda m, f, x: x / 0.0,
    "x % 1.5": lambda m, f, x: x % 1.5,
    "log_sigmoid": lambda m, f, x: f.logsigmoid(x),
    "softplus": lambda m, f, x: f.softplus(x),
    "softplus 2 3": lambda m, f, x: f.softplus(x, 2, 3),
    "leaky_relu": lambda m, f, x: f.leaky_relu(x, 0.25),
    "leaky_relu 0": lambda m, f, x: f.leaky_relu(x, 0.0),
    "elu": lambda m, f, x: f.elu(x),
    "elu 1.5": lambda m, f, x: f.elu(x, 1.5),
    "celu 2": lambda m, f, x: f.celu(x, 2.0),
    "gelu": lambda m, f, x: f.gelu(x),
    "gelu_tanh": lambda m, f, x: f.gelu(x, approximate="tanh"),
    "silu": lambda m, f, x: f.silu(x),
    "mish": lambda m, f, x: f.mish(x),
    "hard_sigmoid": lambda m, f, x: f.hardsigmoid(x),
    "hard_swish": lambda m, f, x: f.hardswish(x),
    "hard_tanh": lambda m, f, x: f.hardtanh(x),
    "hard_tanh 0 6": lambda m, f, x: f.hardtanh(x, 0.0, 6.0),
    "relu6": lambda m, f, x: f.relu6(x),
    "softsign": lambda m, f, x: x / (1 + m.abs(x)),
    "where": lambda m, f, x: m.where(x > 0, m.log(x), x),
    "masked_fill": lambda m, f, x: x.masked_fill(x < 0, 3.0),
}

# Functions of two inputs, for each pair of `few`.
binary = named("add sub mul div pow remainder fmod minimum maximum atan2 hypot logaddexp copysign")
binary |= {
    "prelu": lambda m, f, a, b: f.prelu(a, b[:1]) + 0 * b,
    "lerp a b 0.25": lambda m, f, a, b: m.lerp(a, b, 0.25),
    "lerp 1 b a": lambda m, f, a, b: m.lerp(m.ones_like(a), b, a),
    "addcmul": lambda m, f, a, b: m.addcmul(m.ones_like(a), a, b, value=2),
    "addcdiv": lambda m, f, a, b: m.addcdiv(m.ones_like(a), a, b, value=2),
    "where": lambda m, f, a, b: m.where(a > b, a * b, a),
    "clip by a tensor": lambda m, f, a, b: m.clip(a, b, None),
}

# Functions of each of `vectors`.
whole = {
    f"norm {p}": (lambda p: lambda m, f, x: m.linalg.vector_norm(x, ord=p))(p)
    for p in (0, 0.5, 1, 1.5, 2, 3, inf, -inf, -1)
}
whole |= {
    "sum": lambda m, f, x: x.sum(),
    "mean": lambda m, f, x: x.mean(),
    "prod": lambda m, f, x: x.prod(),
    "max": lambda m, f, x: m.max(x) if m.__name__ == "crisol" else m.amax(x),
    "min": lambda m, f, x: m.min(x) if m.__name__ == "crisol" else m.amin(x),
    "std": lambda m, f, x: m.std(x, correction=1),
    "var": lambda m, f, x: m.var(x, correction=1),
    "std 0": lambda m, f, x: m.std(x, correction=0),
    "var 0": lambda m, f, x: m.var(x, correction=0),
    "logsumexp": lambda m, f, x: m.logsumexp(x, 0),
    "softmax": lambda m, f, x: m.softmax(x, -1),
    "log_softmax": lambda m, f, x: m.log_softmax(x, -1),
    "cumsum": lambda m, f, x: m.cumsum(x, 0),
    "cumprod": lambda m, f, x: m.cumprod(x, 0),
    "normalize": lambda m, f, x: f.normalize(x, dim=0),
    "normalize 1": lambda m, f, x: f.normalize(x, p=1.0, dim=0),
    "mse": lambda m, f, x: ((x - 1) ** 2).mean(),
    "root of squares": lambda m, f, x: m.sqrt((x * x).sum()),
}


def cases():
    """(name, function, inputs, whether the function works element by element)."""
    for name, function in unary.items():
        yield name, function, [points], True
    for name, function in binary.items():
        pairs = [(a, b) for a in few for b in few]
        yield f"{name} of two", function, [[a for a, _ in pairs], [b for _, b in pairs]], True
    for name, function in whole.items():
        for vector in vectors:
            yield f"{name} of {vector}", function, [vector], False


def results(m, tensor, case, twice=True):
    """The value, the first derivatives, and (twice) the derivatives of these, each as a list of numbers."""
    _, function, inputs, apart = case
    xs = [tensor(x).requires_grad_() for x in inputs]
    y = function(m, m.nn.functional, *xs)

    def total(t):
        weights = [1.0 if apart else (1.0, -2.0, 0.5)[i % 3] for i in range(math.prod(t.shape))]
        return (t.reshape((-1,)) * tensor(weights)).sum()

    def gradients(t):
        if t is None or not t.requires_grad:
            return [None for _ in xs]
        return m.autograd.grad(total(t), xs, create_graph=twice, retain_graph=True, allow_unused=True)

    def numbers(t, like):
        # A tensor of zeros that PyTorch never made has no elements to read.
        none = t is None or (hasattr(t, "_is_zerotensor") and t._is_zerotensor())
        return [0.0] * len(like) if none else [float(v) for v in t.detach().reshape((-1,)).tolist()]

    first = gradients(y)
    found = [numbers(y, [])] + [numbers(g, x) for g, x in zip(first, inputs, strict=True)]
    if twice:
        found += [numbers(h, x) for g in first for h, x in zip(gradients(g), inputs, strict=True)]
    return found


def main():
    import torch

    def tensor(values):
        return torch.tensor(values, dtype=torch.float32).double()

    for case in cases():
        found = results(torch, tensor, case, twice=case[0] != "hard_sigmoid")  # PyTorch has only the first derivative.
        print(case[0], *[" ".join(f"{v:.7g}" for v in values) for values in found], sep="\t")


if __name__ == "__main__":
    main()
