"""Random layers: results and gradients compared with PyTorch in double."""

import crisol
import numpy as np


def layer_of(random):
    """A name, arguments, and the shape of an input."""

    def n(low, high):
        return int(random.integers(low, high))

    rank = n(1, 4)
    batch, channels, size = n(1, 4), n(1, 7), tuple(n(5, 12) for _ in range(rank))
    groups = [g for g in range(1, channels + 1) if channels % g == 0]
    group = int(random.choice(groups))
    window = dict(kernel_size=n(1, 5), stride=n(1, 4), padding=n(0, 2))
    images = (batch, channels, *size)
    kind = n(0, 9)
    if kind == 0:
        return "Linear", (channels, n(1, 9)), dict(bias=bool(n(0, 2))), (*size[1:], batch, channels)
    if kind == 1:
        more = dict(window, dilation=n(1, 3), groups=group, bias=bool(n(0, 2)))
        return f"Conv{rank}d", (channels, group * n(1, 4)), more, images
    if kind == 2:
        more = dict(window, dilation=n(1, 3), groups=group, bias=bool(n(0, 2)))
        more["output_padding"] = n(0, max(more["stride"], more["dilation"]))
        return f"ConvTranspose{rank}d", (channels, group * n(1, 4)), more, images
    if kind == 3:
        size = (size + (6,))[: max(rank, 2)]
        window["padding"] = n(0, window["kernel_size"] // 2 + 1)
        name = ["MaxPool", "AvgPool"][n(0, 2)] + f"{len(size)}d"
        return name, (), window, (batch, channels, *size)
    if kind == 4:
        return f"BatchNorm{rank}d", (channels,), dict(affine=bool(n(0, 2))), (batch + 1, channels, *size)
    if kind == 5:
        return "GroupNorm", (group, channels), {}, images
    if kind == 6:
        return "LayerNorm", (size,), dict(elementwise_affine=bool(n(0, 2))), images
    if kind == 7:
        more = dict(num_layers=n(1, 3), bidirectional=bool(n(0, 2)), batch_first=bool(n(0, 2)), bias=bool(n(0, 2)))
        return ["RNN", "LSTM", "GRU"][n(0, 3)], (channels, n(1, 9)), more, (n(1, 7), n(1, 5), channels)
    name = ["ELU", "GELU", "SiLU", "Mish", "Softplus", "LogSigmoid", "Hardswish", "SELU", "CELU", "ReLU6"][n(0, 10)]
    return name, (), {}, images


def results(layer, x, tensor):
    """The result and the gradients of the input and of each parameter, by name."""
    y = layer(x)
    y = y[0] if isinstance(y, tuple) else y
    weights = np.cos(np.arange(float(np.prod(y.shape)))).reshape(tuple(y.shape))
    (y * tensor(weights)).sum().backward()
    found = {"result": y, "gradient of the input": x.grad}
    found |= {f"gradient of {name}": p.grad for name, p in layer.named_parameters()}
    return {name: np.asarray(value.detach(), float) for name, value in found.items()}


def difference(random):
    """What differs for one layer, or None."""
    import torch

    name, arguments, more, shape = layer_of(random)
    elements = random.uniform(-2, 2, shape).astype(np.float32)
    text = f"nn.{name}{arguments} {more} of an input {shape}"
    try:
        theirs = getattr(torch.nn, name)(*arguments, **more).double()
        exact = results(theirs, torch.tensor(elements).double().requires_grad_(), torch.tensor)
    except (RuntimeError, ValueError):
        return None  # Sizes that do not fit.
    state = {
        key: value.float().numpy()
        for key, value in theirs.state_dict().items()
        if "running" not in key and "tracked" not in key
    }
    try:
        own = getattr(crisol.nn, name)(*arguments, **more)
        own.load_state_dict({key: crisol.asarray(value) for key, value in state.items()}, strict=False)
        found = results(own, crisol.asarray(elements).requires_grad_(), lambda w: crisol.asarray(w.astype(np.float32)))
    except Exception as error:
        return f"{text}: {type(error).__name__}: {error}"
    for key, right in exact.items():
        value = found[key]
        if value.shape != right.shape:
            return f"{text}: {key} has shape {value.shape}, PyTorch's has {right.shape}"
        size = np.max(np.abs(right), initial=0)
        far = np.max(np.abs(value - right), initial=0)
        if not far <= 2e-4 * size + 1e-4:
            return f"{text}: {key} is {far} apart, the largest element is {size}"
    return None
