"""PyTorch's own samples of its functions, with PyTorch and with crisol: values, dtypes, shapes and gradients."""

import functools

import crisol
import numpy as np

# Functions that are not compared.
left = {
    "random numbers": """bernoulli cauchy empty empty_like empty_permuted empty_strided exponential geometric log_normal
        multinomial new_empty new_empty_strided normal pca_lowrank rand_like randint randint_like randn randn_like
        svd_lowrank uniform nn.functional.alpha_dropout nn.functional.dropout nn.functional.dropout2d
        nn.functional.dropout3d nn.functional.feature_alpha_dropout nn.functional.fractional_max_pool2d
        nn.functional.fractional_max_pool3d nn.functional.multi_head_attention_forward nn.functional.rrelu""",
    "the samples have another order of arguments": """bfloat16 bool double einsum float half int linalg.pinv long
        nn.functional.embedding nn.functional.embedding_bag polygamma short special.polygamma where zero_""",
    "the namespace of the standard": "repeat",
    "complex numbers": "fft.hfft fft.irfft fft.irfft2 fft.irfftn istft stft",
    "a function of PyTorch as an argument": "nn.functional.triplet_margin_with_distance_loss",
    "storage behind a view": "as_strided as_strided_scatter",
    "no rule for the order of results": "unique",
    "PyTorch refuses its type": "float_power",
    "a number that uint8 does not hold is refused": "scalar_tensor",
    "PyTorch's values are not exact": "matrix_exp",
}
# Each library chooses its own order of equal elements, and its own signs of vectors. These results, given by their
# numbers, are not compared.
free = {"argsort": [0], "kthvalue": [1], "mode": [1], "sort": [1], "topk": [1]}
free |= {f"linalg.{name}": range(3) for name in ("eigh", "lstsq", "qr", "svd")} | {"qr": range(2), "svd": range(3)}
# PyTorch has other gradients here. In ctc_loss it includes log_softmax, and in logcumsumexp it rounds more. In
# cholesky_inverse and cholesky_solve it counts both triangles. In max_unpool it counts elements that were overwritten.
no_gradients = """cholesky_inverse cholesky_solve logcumsumexp nn.functional.ctc_loss nn.functional.max_unpool1d
    nn.functional.max_unpool2d nn.functional.max_unpool3d""".split()
# Parts of crisol's messages about types, ranks and forms that it does not take.
refusals = ["must be float32", "takes numbers, not bool", "unless elements are only picked"]
refusals += ["must be (N, C)", "is defined for images", "stride is a tuple"]
dtypes = ["float32", "float32", "float32", "int64", "uint8", "bool"]


@functools.cache
def functions():
    """PyTorch's functions that crisol has, with crisol's."""
    from torch.testing._internal.common_methods_invocations import op_db

    names = {name for several in left.values() for name in several.split()}
    own = [(op, functools.reduce(lambda o, part: getattr(o, part, None), op.name.split("."), crisol)) for op in op_db]
    return [(op, function) for op, function in own if function is not None and op.name not in names]


def own_of(value, made):
    """Tensors of PyTorch as tensors of crisol. `made` keeps them by the tensor's id."""
    import torch

    if isinstance(value, torch.Tensor):
        if id(value) not in made:
            tensor = crisol.from_numpy(value.numpy(force=True).copy())
            made[id(value)] = tensor.requires_grad_(value.requires_grad)
        return made[id(value)]
    if isinstance(value, torch.dtype):
        return getattr(crisol, str(value).removeprefix("torch."))
    if isinstance(value, (list, tuple)):
        return type(value)(own_of(one, made) for one in value) if type(value) in (list, tuple) else tuple(value)
    return {key: own_of(one, made) for key, one in value.items()} if isinstance(value, dict) else value


def flat(value):
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in flat(part)]
    return flat(list(value.values())) if isinstance(value, dict) else [value]


def apart(found, expected):
    """How a result differs from PyTorch's, or None."""
    names = [str(x.dtype).rpartition(".")[2] for x in (found, expected)]
    if names[0] != names[1] or tuple(found.shape) != tuple(expected.shape):
        return f"{names[0]}{tuple(found.shape)}, PyTorch has {names[1]}{tuple(expected.shape)}"
    f, e = np.asarray(found.detach()), expected.numpy(force=True)
    if f.dtype.kind != "f":
        return None if np.array_equal(f, e) else f"{f[f != e][:3]}, PyTorch has {e[f != e][:3]}"
    near = np.isclose(f, e, rtol=2e-4, atol=2e-4, equal_nan=True)
    return None if near.all() else f"{f[~near][:3]}, PyTorch has {e[~near][:3]}"


def gradients(results, leaves, library):
    """Of a sum of all results, each element times its own number. None for a leaf that no result depends on."""
    total, results = 0, [y for y in results if y.requires_grad]
    if not results:
        return [None] * len(leaves)
    for y in results:
        weights = library.asarray(np.cos(np.arange(float(np.prod(y.shape)))).astype(np.float32).reshape(tuple(y.shape)))
        total = total + (y.to(library.float32) * weights).sum()
    return library.autograd.grad(total, leaves, allow_unused=True)


def is_refused(error):
    return isinstance(error, NotImplementedError) or any(text in str(error) for text in refusals)


def differences(op, function, sample, name):
    import torch

    arguments, named = (sample.input, *sample.args), dict(sample.kwargs)
    named.pop("device", None)
    try:
        expected = flat(op.op(*arguments, **named))
    except Exception:
        return
    tensors = [x for x in [*expected, *flat(arguments), *flat(named)] if isinstance(x, torch.Tensor)]
    if any(x.is_complex() or x.layout != torch.strided for x in tensors) or named.get("dropout_p"):
        return
    made = {}
    try:
        found = flat(function(*own_of(arguments, made), **own_of(named, made)))
    except Exception as error:
        if not is_refused(error):
            yield f"{type(error).__name__}: {error}"
        return
    pairs = [pair for k, pair in enumerate(zip(found, expected)) if k not in free.get(name, ())]
    pairs = [(f, e) for f, e in pairs if isinstance(e, torch.Tensor)]
    yield from (text for text in (apart(f, e) for f, e in pairs) if text)
    leaves = [x for x in flat([arguments, named]) if isinstance(x, torch.Tensor) and x.requires_grad]
    pairs = [(f, e) for f, e in pairs if e.requires_grad]
    if leaves and pairs and name not in free and name not in no_gradients:
        right = gradients([e for _, e in pairs], leaves, torch)
        own = gradients([f for f, _ in pairs], [made[id(x)] for x in leaves], crisol)
        for f, e in zip(own, right):
            if e is None:
                continue
            if f is None:
                f = crisol.zeros(tuple(e.shape))
            if text := apart(f, e):
                yield f"gradient: {text}"


def shown(value):
    """Arguments as text, with the types and shapes of tensors."""
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, dict):
        return ", ".join(f"{key}={shown(one)}" for key, one in value.items())
    return f"{value.dtype}{tuple(value.shape)}" if hasattr(value, "shape") else repr(value)


def difference(random):
    """What differs for one sample, or None."""
    import torch

    op, function = functions()[int(random.integers(len(functions())))]
    dtype = getattr(torch, random.choice(dtypes))
    if dtype not in op.supported_dtypes("cpu"):
        return None
    torch.manual_seed(int(random.integers(2**31)))
    wants = dtype.is_floating_point and dtype in op.supported_backward_dtypes("cpu")
    samples = list(op.sample_inputs("cpu", dtype, requires_grad=wants))
    sample = samples[int(random.integers(len(samples)))]
    for text in differences(op, function, sample, op.name):
        return f"{op.full_name} of {shown((sample.input, *sample.args))} {shown(sample.kwargs)}: {text}"
    return None
