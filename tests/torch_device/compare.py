"""Compares PyTorch's ops on the device with the CPU."""

import contextlib
import math
import warnings

import torch
import torch_crisol
from torch.utils._pytree import tree_flatten, tree_map

DEVICE = "crisol"
TOLERANCES = {torch.float16: (2e-2, 2e-3), torch.bfloat16: (4e-2, 2e-2), torch.float32: (2e-4, 2e-4)}
TOLERANCES[torch.complex64] = (1e-5, 1e-5)


def to_device(value):
    """Tensors of any structure on the device, with the same strides and the same wish for a gradient."""

    def move(x):
        if not isinstance(x, torch.Tensor):
            return x
        with torch.no_grad():
            moved = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=DEVICE)
            if x.numel() and all(size == 1 or stride for size, stride in zip(x.shape, x.stride(), strict=True)):
                moved.copy_(x)
            else:
                moved = x.detach().to(DEVICE)
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


def check_sample(op, sample, with_gradient):
    """Runs one sample of an OpInfo on the CPU and on the device. Returns whether it ran: what the CPU refuses does not
    count."""
    arguments = (sample.input, sample.args, sample.kwargs)
    theirs = to_device(arguments)
    kwargs = {key: torch.device(DEVICE) if key == "device" else value for key, value in theirs[2].items()}

    def on_cpu():
        return op(arguments[0], *arguments[1], **arguments[2])

    def on_device():
        return op(theirs[0], *theirs[1], **kwargs)

    with quiet():
        try:
            torch.manual_seed(1)
            expected = on_cpu()
        except Exception:
            return False
        torch.manual_seed(1)
        assert_same(on_device(), expected, op.name)
        if with_gradient:
            try:
                expected = gradients(on_cpu, arguments)
            except Exception:
                return True
            actual = gradients(on_device, theirs)
            assert len(actual) == len(expected)
            for a, b in zip(actual, expected, strict=True):
                assert (a is None) == (b is None), f"{op.name}: a gradient is missing"
                if b is not None:
                    assert_same(a, b, f"gradient of {op.name}")
    return True


@contextlib.contextmanager
def native():
    """Fails if an op runs on the CPU."""
    torch_crisol.set_fallback("error")
    try:
        yield
    finally:
        torch_crisol.set_fallback("silent")
