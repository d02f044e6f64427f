"""Compares PyTorch's ops on the device with the CPU."""

import contextlib
import math
import unittest.mock
import warnings

import torch
import torch_crisol
from torch.utils._pytree import tree_flatten, tree_map

DEVICE = "crisol"
TOLERANCES = {torch.float16: (2e-2, 2e-3), torch.bfloat16: (4e-2, 2e-2), torch.float32: (2e-4, 2e-4)}
TOLERANCES[torch.complex64] = (1e-5, 1e-5)


# The results of these entries have undefined elements, so only shapes are compared.
UNDEFINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
# PyTorch does not say which one of equal elements these choose, so only the values are compared.
WITH_TIES = {"topk", "kthvalue"}
# The errors of PyTorch for samples that no device but the CPU (or CUDA) has, by the names of the entries.
REFUSED = {
    "sparse.mm": "needs a sparse tensor",
    "sparse.sampled_addmm": "needs a sparse tensor",
    "tensor_split": "to be on cpu",
    "to_sparse": "needs a sparse tensor",
}


def to_device(value):
    """Tensors of any structure on the device, with the same storage, strides and wish for a gradient. A tensor that
    appears twice stays one tensor."""
    known = {}

    def move(x):
        return known.setdefault(id(x), moved_tensor(x)) if isinstance(x, torch.Tensor) else x

    def moved_tensor(x):
        with torch.no_grad():
            if x.layout != torch.strided or x.is_conj() or x.is_neg():
                return x.detach().to(DEVICE).requires_grad_(x.requires_grad)
            storage = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage())
            moved = storage.to(DEVICE).as_strided(x.shape, x.stride(), x.storage_offset())
        return moved.requires_grad_(x.requires_grad)

    return tree_map(move, value)


def tensors_of(value):
    return [x for x in tree_flatten(value)[0] if isinstance(x, torch.Tensor)]


def assert_same(actual, expected, what=""):
    """Two results are equal up to rounding."""
    left, right = tree_flatten(actual)[0], tree_flatten(expected)[0]
    assert len(left) == len(right), f"{what}: {len(left)} results instead of {len(right)}"
    for a, b in zip(left, right, strict=True):
        if isinstance(b, torch.Tensor):
            rtol, atol = TOLERANCES.get(b.dtype, (1e-7, 1e-7) if b.is_floating_point() or b.is_complex() else (0, 0))
            torch.testing.assert_close(
                a.detach().cpu(), b.detach(), rtol=rtol, atol=atol, equal_nan=True, msg=lambda m: f"{what}: {m}"
            )
        else:
            assert (a is None) == (b is None), f"{what}: {a} instead of {b}"
            assert a == b or (math.isnan(a) and math.isnan(b)), f"{what}: {a} instead of {b}"


def gradients(function, inputs):
    """The gradients of the sum of all results, weighted so that they differ."""
    wanted = [x for x in tensors_of(inputs) if x.requires_grad]
    outputs = [y for y in tensors_of(function()) if y.requires_grad]
    if not wanted or not outputs:
        return []
    weights = []
    for y in outputs:
        ramp = torch.linspace(0.5, 1.5, max(y.numel(), 1), dtype=torch.float64)[: y.numel()].reshape(y.shape)
        weights.append(ramp.to(y.dtype).to(y.device))
    return list(torch.autograd.grad(outputs, wanted, weights, allow_unused=True))


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def copies(value):
    """The structure with copies of its tensors, without gradients."""
    return tree_map(lambda x: x.detach().clone() if isinstance(x, torch.Tensor) else x, value)


def assert_same_shapes(actual, expected, what):
    left, right = tensors_of(actual), tensors_of(expected)
    assert [(a.shape, a.dtype) for a in left] == [(b.shape, b.dtype) for b in right], what


def is_random(compute, expected):
    """Whether another seed changes the results of the CPU. Some entries seed the CPU themselves."""
    seeded = torch.manual_seed
    for number in range(1, 6):
        with unittest.mock.patch("torch.manual_seed", lambda seed, number=number: seeded(seed + number)):
            torch.manual_seed(1)
            try:
                assert_same(compute(), expected)
            except AssertionError:
                return True
    return False


def compare(op, on_device, on_cpu, expected, what):
    """The device gives the same results. Only the shapes count if the results are random or undefined."""
    torch.manual_seed(1)
    actual = on_device()
    if op.name in UNDEFINED:
        return assert_same_shapes(actual, expected, what)
    if op.name in WITH_TIES and not what.startswith("gradient"):
        assert_same_shapes(actual, expected, what)
        actual, expected = actual[0], expected[0]
    try:
        assert_same(actual, expected, what)
    except AssertionError:
        if not is_random(on_cpu, expected):
            raise
        assert_same_shapes(actual, expected, what)


def check_sample(op, sample, with_gradient, function=None):
    """Runs one sample of an OpInfo on the CPU and on the device. Returns whether it ran: what the CPU refuses does not
    count. `function` replaces the op."""
    function = function or op
    arguments = (sample.input, sample.args, sample.kwargs)
    theirs = to_device(arguments)
    kwargs = {key: torch.device(DEVICE) if key == "device" else value for key, value in theirs[2].items()}

    def on_cpu():
        return function(arguments[0], *arguments[1], **arguments[2])

    def on_device():
        return function(theirs[0], *theirs[1], **kwargs)

    with quiet():
        try:
            torch.manual_seed(1)
            expected = copies(on_cpu())  # The op may give back its input, which another call changes.
        except Exception:
            return False
        try:
            compare(op, on_device, on_cpu, expected, op.name)
        except Exception as error:
            if op.name in REFUSED and REFUSED[op.name] in str(error):
                return False
            raise
        if with_gradient:
            try:
                torch.manual_seed(1)
                expected = gradients(on_cpu, arguments)
            except Exception:
                return True
            compare(
                op,
                lambda: gradients(on_device, theirs),
                lambda: gradients(on_cpu, arguments),
                expected,
                f"gradient of {op.name}",
            )
    return True


def variants(op, sample):
    """The forms of a sample beside the plain one: (name, sample, function)."""
    with contextlib.suppress(Exception):
        yield "non-contiguous", sample.noncontiguous(), op
    plain = sample.transform(lambda x: x.detach() if isinstance(x, torch.Tensor) else x)
    inplace = op.get_inplace()
    if inplace is not None:

        def in_place(x, *args, **kwargs):
            y = copies(x)
            result = inplace(y, *args, **kwargs)
            assert result is y
            return y

        def in_view(x, *args, **kwargs):
            """In place in every second element of a larger tensor."""
            wide = x.new_full((*x.shape, 2), 1)
            view = wide[..., 1]
            view.copy_(x)
            inplace(view, *args, **kwargs)
            return wide

        yield "in place", plain, in_place
        if isinstance(plain.input, torch.Tensor):
            yield "in place in a view", plain, in_view
    if op.supports_out:

        def out(x, *args, **kwargs):
            given = tree_map(torch.empty_like, op(x, *args, **kwargs))
            return op(x, *args, **kwargs, out=given)

        yield "out", plain, out


@contextlib.contextmanager
def native():
    """Fails if an op runs on the CPU."""
    torch_crisol.set_fallback("error")
    try:
        yield
    finally:
        torch_crisol.set_fallback("silent")
