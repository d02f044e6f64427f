"""Runs a program in crisol and in a reference, and describes the first difference."""

import numpy as np
from functions import of_crisol, of_numpy, of_torch
from programs import Program, evaluate, mirror, read_by

crisol_names, torch_names = of_crisol(), of_torch()
summing = "sum index_add mean cumsum matmul einsum norm addcmul addcdiv fma diff prod cumprod".split()
cancelling = "var std lerp logaddexp lgamma log_softmax logsumexp hard_sigmoid hard_swish".split()
overflowing = "prod cumprod norm var std matmul einsum".split()


def tensor(array):
    return crisol_names.asarray(array)


def difference(program):
    """What differs, or None."""
    return gradient_difference(program) if program.has_gradients else value_difference(program)


def name_of(text):
    name = text.partition("m.")[2].partition("(")[0]
    return text.split("'")[1] if name == "in_place" else name


def largest(x):
    return float(np.max(np.abs(x), initial=0, where=np.isfinite(x)))


def tolerance_of(text, v, expected, dtype):
    """How far an element may be from the reference: some roundings of the numbers that are added."""
    epsilon = 1e-3 if dtype == np.float16 else 4e-5 if "gelu_tanh" in text or "softplus" in text else 1e-5
    least = 1e-7 if dtype == np.float16 else 1e-37
    size = np.abs(expected)
    name = name_of(text)
    # Squares, products and their sums may overflow in float32 on the way.
    read = max((largest(v[i]) for i in read_by(text)), default=0)
    factors = max((max(v[i].shape, default=1) for i in read_by(text)), default=1) if "prod" in name else 1
    if name in overflowing and (read > 1e5 or factors * np.log(max(read, 1)) > 85):
        return np.full(expected.shape, np.inf)
    if name in summing:
        terms = evaluate(text.replace("-1.5", "1.5"), of_numpy, [np.abs(x) for x in v])
        size = np.maximum(size, np.abs(np.asarray(terms, float)))
        size = np.where(size > 1e38, np.inf, size)
    elif name in cancelling:
        size = np.maximum(size, max(read, 1) ** (2 if name == "var" else 1))
    return epsilon * size + least


def value_difference(program):
    """Steps one by one: each starts from crisol's values, so that errors do not add up."""
    mirrors, values = [], []
    for k, (text, array) in enumerate(program.steps):
        if array is not None:
            values.append(tensor(array))
            mirrors.append(mirror(array))
            continue
        with np.errstate(all="ignore"):
            before = [x.copy() for x in mirrors]
            expected = np.asarray(evaluate(text, of_numpy, mirrors))
        mirrors.append(expected)
        try:
            values.append(evaluate(text, crisol_names, values))
        except Exception as error:  # An error is a finding, whatever its type.
            return k, f"{type(error).__name__}: {error}"
        for i in range(k + 1):
            wrong = differs(text if i == k or "in_place" in text else "", before, np.asarray(values[i]), mirrors[i])
            if wrong:
                return k, f"v[{i}] after step {k}: {wrong}"
    return None


def differs(text, before, found, expected):
    """Compares a value, and takes crisol's elements over into NumPy's."""
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    if (found.dtype.kind == "f") != (expected.dtype.kind == "f"):
        return f"dtype {found.dtype}, expected {expected.dtype}"
    if found.dtype.kind != "f":
        wrong = found != expected.astype(found.dtype)
    else:
        with np.errstate(all="ignore"):
            rounded = expected.astype(found.dtype).astype(float)
            allowed = tolerance_of(text, before, expected, found.dtype)
            near = (np.abs(found - expected) <= allowed) | np.isinf(allowed)
            most = 0.99 * float(np.finfo(found.dtype).max)
            large = (np.abs(expected) > most) & (np.abs(found) > most)
        wrong = ~(near | (found == rounded) | (np.isnan(found) & np.isnan(expected)) | large)
    if wrong.any():
        at = tuple(int(i[0]) for i in np.nonzero(wrong))
        return f"{found[at]} at {at}, expected {expected[at]}"
    if expected.flags.writeable:
        expected[...] = found
    return None


def run(program, m, leaf):
    values = []
    for text, array in program.steps:
        value = leaf(array) if array is not None else evaluate(text, m, values)
        values.append(np.asarray(value) if m is of_numpy else value)
    return values


def total_of(values, m, leaf):
    """A weighted sum of the values that no step reads and of the last one."""
    y = values[-1]
    weights = leaf(np.cos(np.arange(float(np.prod(y.shape, dtype=int)))).reshape(y.shape))
    return (y * weights).sum()


def numbers_of(gradient):
    # A tensor of zeros that PyTorch never made has no elements to read.
    if gradient is None or getattr(gradient, "_is_zerotensor", lambda: False)():
        return None
    return np.asarray(gradient.detach(), float)


def gradients_of(program, m, leaf, twice):
    """The gradients of the leaves, and the gradients of a weighted sum of these."""
    leaves = []

    def own_leaf(array):
        leaves.append(leaf(array).requires_grad_())
        return leaves[-1]

    y = total_of(run(program, m, own_leaf), m, leaf)
    if not y.requires_grad:
        return [[], []]
    first = m.autograd.grad(y, leaves, create_graph=twice, allow_unused=True)
    levels = [first]
    if twice:
        given = [g for g in first if g is not None and g.requires_grad]
        terms = [(g * leaf(np.sin(np.arange(1.0, 1 + g.numel())).reshape(g.shape))).sum() for g in given]
        levels.append(m.autograd.grad(sum(terms), leaves, allow_unused=True) if terms else [])
    return [[numbers_of(g) for g in level] for level in levels]


def gradient_difference(program):
    last = len(program.steps) - 1
    if last < 1 or program.steps[last][1] is not None:
        return None
    # PyTorch has no second derivative of hard_sigmoid, crisol none of cumprod.
    twice = torch_names is not None and not any(name in program.text() for name in ("hard_sigmoid", "cumprod"))
    try:
        found = gradients_of(program, crisol_names, lambda x: tensor(np.asarray(x, np.float32)), twice)
    except Exception as error:
        if "has no gradient of its gradient" in str(error):
            return None
        return last, f"{type(error).__name__}: {error}"
    if torch_names is None:
        return directional_difference(program, found[0])
    import torch

    exact, rough = (
        gradients_of(program, torch_names, lambda x, d=d: torch.tensor(x, dtype=d), twice)
        for d in (torch.float64, torch.float32)
    )
    for level, name in enumerate(["gradient", "second gradient"][: 1 + twice]):
        for i, (e, r) in enumerate(zip(exact[level], rough[level])):
            g = found[level][i] if i < len(found[level]) else None
            e = np.zeros(1) if e is None else e
            g = np.zeros_like(e) if g is None else g
            r = np.zeros_like(e) if r is None else r
            # A second gradient may be small beside the terms of the first one.
            size = max((largest(g) for g in exact[0] if g is not None), default=0) if level else 0
            size = max(np.max(np.abs(e), initial=0), size)
            with np.errstate(invalid="ignore"):
                apart = np.abs(r - e)
                rounding = np.max(apart, initial=0, where=np.isfinite(apart))
                allowed = 30 * rounding + (1e-3 if level else 1e-4) * size + 1e-5
                bad = ~(np.abs(g - e) <= allowed) & np.isfinite(e) & np.isfinite(r)
            if size < 1e6 and bad.any():
                at = tuple(int(k[0]) for k in np.nonzero(np.broadcast_to(bad, g.shape)))
                return last, f"{name} of leaf {i} at {at}: {g[at]}, PyTorch has {e[at if e.shape == g.shape else 0]}"
    return None


def directional_difference(program, found):
    """Compares with differences in double along one direction, where they agree with each other. At a kink the slopes
    ahead and behind differ, and a gradient may be any value between them."""
    arrays = [array for _, array in program.steps if array is not None]
    directions = [np.cos(1.0 + np.arange(float(a.size))).reshape(a.shape) for a in arrays]

    def value(h):
        moved = iter([a + h * d for a, d in zip(arrays, directions)])
        with np.errstate(all="ignore"):
            return float(total_of(run(program, of_numpy, lambda _: next(moved)), of_numpy, lambda x: x))

    h = 3e-6
    at_end, at_start, between = value(h), value(-h), value(0)
    slopes = [(value(1e-5) - value(-1e-5)) / 2e-5, (at_end - at_start) / (2 * h)]
    ahead, behind = (at_end - between) / h, (between - at_start) / h
    slope = sum(float((g * d).sum()) for g, d in zip(found, directions) if g is not None)
    size = sum(float(np.abs(g).sum()) for g in found if g is not None)
    allowed = 1e-3 * size + 1e-4
    if not (abs(slopes[0] - slopes[1]) <= 1e-5 * size + 1e-7 and abs(ahead - behind) <= allowed):
        return None
    if abs(slope - slopes[0]) <= allowed:
        return None
    return len(program.steps) - 1, f"slope {slope}, in double {slopes[0]}"


def pruned(program, last):
    """The steps that the last one needs. Writes in place need all before it."""
    steps = program.steps[: last + 1]
    wanted = {last}
    for i in range(last, -1, -1):
        if i in wanted:
            wanted |= read_by(steps[i][0])
        elif any(name in steps[i][0] for name in ("in_place", "set_items")) and read_by(steps[i][0]) & wanted:
            wanted |= {i} | read_by(steps[i][0])
    numbers = {old: new for new, old in enumerate(sorted(wanted))}
    kept = []
    for old in sorted(wanted):
        text, array = steps[old]
        for one in sorted(read_by(text)):
            text = text.replace(f"v[{one}]", f"v<{numbers[one]}>")
        kept.append((renumbered(text), array))
    return Program(kept, program.has_gradients)


def renumbered(text):
    parts = text.split("v<")
    return parts[0] + "".join("v[" + part.replace(">", "]", 1) for part in parts[1:])


def shrunk(program):
    """A smaller program that still differs: without steps that do not matter, and with leaves in place of results."""
    found = difference(program)
    program = pruned(program, found[0])
    if difference(program) is None:
        return program
    for i in range(len(program.steps) - 2, -1, -1):
        if i >= len(program.steps) - 1 or program.steps[i][1] is not None:
            continue
        with np.errstate(all="ignore"):
            value = run(program, of_numpy, mirror)[i]
        leaf = value.astype(np.float32) if value.dtype.kind == "f" else value
        smaller = Program([*program.steps[:i], ("", leaf), *program.steps[i + 1 :]], program.has_gradients)
        smaller = pruned(smaller, len(smaller.steps) - 1)
        if difference(smaller) is not None:
            program = smaller
    return program
