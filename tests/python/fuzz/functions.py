"""The functions that random programs call, by crisol's names, and the same names for NumPy and PyTorch."""

import math

import numpy as np

special = np.vectorize(math.lgamma, otypes=[float]), np.vectorize(math.erf, otypes=[float])
special += (np.vectorize(math.erfc, otypes=[float]),)


def sigmoid(x):
    return np.exp(-np.logaddexp(0.0, -x))


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def log_softmax(x, axis):
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def lgamma(x):
    whole = (x <= 0) & (x == np.floor(x)) | (np.abs(x) > 1e300)  # math.lgamma overflows above.
    return np.where(whole, np.inf, special[0](np.where(whole | np.isnan(x), 1.0, x)) + np.where(np.isnan(x), x, 0))


def log_sum_exp(x, axis):
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    return np.log(np.exp(x - top).sum(axis=axis)) + np.squeeze(top, axis)


def whole_pow(a, b):
    """Modulo the size. A negative power of a whole number is 0, unless its base is 1 or -1."""
    y = np.power(a, np.maximum(b, 0).astype(np.result_type(b)))
    return np.where(b < 0, np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (b % 2), 0)), y).astype(np.result_type(a, b))


def pow_(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if np.result_type(a, b).kind != "f":
        return whole_pow(a, b)
    return np.power(*(x.copy() for x in np.broadcast_arrays(a, b)))  # NumPy's power by one number 0.5 is sqrt.


def total(function):
    """Sums of whole numbers are int64."""

    def f(x, **arguments):
        return function(x.astype(np.int64) if x.dtype.kind in "bui" else x, **arguments)

    return f


def set_items(x, index, value):
    x[index] = value
    return x


def in_place(x, name, *others):
    x[...] = getattr(of_numpy, name)(x, *others)
    return x


def index_add(x, axis, index, source):
    y = np.moveaxis(x.copy(), axis, 0)
    np.add.at(y, index, np.moveaxis(source, axis, 0).astype(x.dtype))
    return np.moveaxis(y, 0, axis)


def floor_divide(a, b):
    y = np.floor_divide(a, b)
    return np.where(np.isinf(a) | np.isinf(b), np.floor(np.divide(a, b)), y) if y.dtype.kind == "f" else y


class Names:
    """A module with more names."""

    def __init__(self, module, **names):
        self.module = module
        self.__dict__.update(names)

    def __getattr__(self, name):
        return getattr(self.module, name)


of_numpy = Names(
    np,
    neg=np.negative, sub=np.subtract, mul=np.multiply, div=lambda a, b: np.divide(a, b, dtype=float), pow=pow_,
    rsqrt=lambda x: 1 / np.sqrt(x), reciprocal=lambda x: 1 / np.asarray(x, float), sigmoid=sigmoid, erf=special[1],
    erfc=special[2], lgamma=lgamma, eq=np.equal, ne=np.not_equal, lt=np.less, le=np.less_equal, gt=np.greater,
    ge=np.greater_equal, relu=lambda x: np.maximum(x, 0), relu6=lambda x: np.clip(x, 0, 6),
    leaky_relu=lambda x: np.where(x > 0, x, x * 0.01), elu=lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    selu=lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
    silu=lambda x: x * sigmoid(x), gelu=lambda x: x * special[2](-x * math.sqrt(0.5)) / 2,
    gelu_tanh=lambda x: x * sigmoid(1.5957691216057308 * (x + 0.044715 * x**3)),
    mish=lambda x: x * np.tanh(np.logaddexp(0.0, x)), softplus=lambda x: np.where(x > 20, x, np.logaddexp(0.0, x)),
    log_sigmoid=lambda x: -np.logaddexp(0.0, -x), hard_sigmoid=lambda x: np.clip(x / 6 + 0.5, 0, 1),
    hard_swish=lambda x: np.where(x >= 3, x, x * np.clip(x / 6 + 0.5, 0, 1)), hard_tanh=lambda x: np.clip(x, -1, 1),
    clamp=np.clip, lerp=lambda a, b, w: np.where(np.less(w, 0.5), a + w * (b - a), b - (b - a) * (1 - w)),
    addcmul=lambda a, b, c: a + b * c,
    addcdiv=lambda a, b, c: a + b / np.asarray(c, float), fma=lambda a, b, c: a * b + c,
    masked_fill=lambda x, mask, value: np.where(mask, np.asarray(value).astype(x.dtype), x),
    sum=total(np.sum), prod=total(np.prod), cumsum=total(np.cumsum), cumprod=total(np.cumprod),
    norm=lambda x, p, axis, keepdims: np.linalg.vector_norm(x, ord=p, axis=axis, keepdims=keepdims),
    var=lambda x, axis, correction: np.var(x, axis=axis, ddof=correction),
    std=lambda x, axis, correction: np.std(x, axis=axis, ddof=correction), logsumexp=log_sum_exp, softmax=softmax,
    log_softmax=log_softmax,
    repeat=lambda x, n, axis: np.repeat(x, n, axis=axis), take=lambda x, index, axis: np.take(x, index, axis=axis),
    index_add=index_add, set_items=set_items, in_place=in_place, floor_divide=floor_divide,
    flip=lambda x, axis: np.flip(x, axis).copy(),  # no view, as in crisol
)  # fmt: skip


def of_crisol():
    import crisol

    def wide(x):
        return x.to(crisol.float32) if x.dtype is crisol.float16 else x

    def put(x, index, value):
        x[index] = value
        return x

    xp, standard = crisol.array_api, crisol._crisol._standard  # The rules of types are NumPy's there.
    by_the_standard = {name: getattr(standard, name) for name in dir(standard) if not name.startswith("_")}
    return Names(
        crisol, **by_the_standard, max=xp.max, min=xp.min, sort=xp.sort, set_items=put,
        in_place=lambda x, name, *others: getattr(x, name + "_")(*others),
        take=lambda x, index, axis: xp.take(x, crisol.asarray(np.asarray(index, np.int64)), axis=axis),
        einsum=lambda equation, a, b: crisol.einsum(equation, wide(a), wide(b)),
        index_add=lambda x, axis, index, source: crisol.index_add(wide(x), axis, crisol.asarray(index), wide(source)),
    )  # fmt: skip


def of_torch():
    """PyTorch, or None where it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    f = torch.nn.functional
    return Names(
        torch, leaky_relu=f.leaky_relu, elu=f.elu, silu=f.silu, gelu=f.gelu, mish=f.mish, softplus=f.softplus,
        gelu_tanh=lambda x: f.gelu(x, approximate="tanh"), log_sigmoid=f.logsigmoid, hard_sigmoid=f.hardsigmoid,
        hard_swish=f.hardswish, hard_tanh=f.hardtanh, relu6=f.relu6, max=torch.amax, min=torch.amin,
        norm=lambda x, p, axis, keepdims: torch.linalg.vector_norm(x, ord=p, dim=axis, keepdim=keepdims),
        fma=lambda a, b, c: a * b + c, permute_dims=torch.permute, expand_dims=torch.unsqueeze,
        sort=lambda x, axis: torch.sort(x, dim=axis, stable=True)[0], flip=lambda x, axis: torch.flip(x, (axis,)),
        roll=lambda x, shift, axis: torch.roll(x, shift, axis), diff=lambda x, axis: torch.diff(x, dim=axis),
        repeat=lambda x, n, axis: torch.repeat_interleave(x, n, axis), stack=lambda x, axis: torch.stack(x, axis),
        concat=lambda x, axis: torch.concat(x, axis), logsumexp=torch.logsumexp,
        take=lambda x, index, axis: torch.index_select(x, axis, torch.tensor(index)),
        index_add=lambda x, axis, index, source: torch.index_add(x, axis, torch.tensor(index), source),
        lerp=lambda a, b, w: a + w * (b - a), softmax=lambda x, axis: torch.softmax(x, axis),
    )  # fmt: skip


smooth = """neg square exp expm1 sin cos atan sinh cosh tanh asinh erf erfc sigmoid log_sigmoid softplus elu selu gelu
    gelu_tanh silu mish""".split()  # fmt: skip
bent = "abs relu leaky_relu hard_sigmoid hard_swish hard_tanh relu6".split()  # with corners
steps = "sign floor ceil round trunc".split()
positive = "sqrt rsqrt reciprocal log log2 log10 log1p exp2".split()
narrow = "asin acos atanh tan acosh cbrt lgamma".split()
whole_unary = "neg abs sign square relu".split()
binary = "add sub mul minimum maximum".split()
float_binary = "div pow remainder fmod atan2 hypot logaddexp copysign floor_divide".split()
smooth_binary = "add sub mul atan2 hypot logaddexp minimum maximum".split()
comparisons = "eq ne lt le gt ge".split()
