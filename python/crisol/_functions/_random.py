"""Random tensors, with PyTorch's arguments."""

import math
from typing import Any

from .. import _crisol as _c
from .._crisol import Generator, Tensor, dtype
from .._method import _method, into, write_result
from ._create import _shape, finished
from ._types import floats

__all__ = [
    "bernoulli",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
]
__all__ += ["randint_like", "randn", "randn_like", "randperm", "seed", "set_rng_state"]

Dtype = dtype | None
AnyGenerator = Generator | None


def _drawn(x: Tensor, dtype: Dtype, requires_grad: bool, out: Tensor | None = None) -> Tensor:
    return finished(x if dtype is None else x.to(dtype), requires_grad, out)


def rand(
    *sizes: Any, size: Any = None, shape: Any = None, generator: AnyGenerator = None, out: Tensor | None = None,
    dtype: Dtype = None, layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Uniform numbers in [0, 1). The default dtype is taken unless one is given."""
    drawn = _c.rand(_shape(sizes, size, shape), dtype=dtype or _c._default_dtype(), device=device, generator=generator)
    return finished(drawn, requires_grad, out)


def randn(
    *sizes: Any, size: Any = None, shape: Any = None, generator: AnyGenerator = None, out: Tensor | None = None,
    dtype: Dtype = None, layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers with mean 0 and standard deviation 1. The default dtype is taken unless one is given."""
    drawn = _c.randn(_shape(sizes, size, shape), dtype=dtype or _c._default_dtype(), device=device, generator=generator)
    return finished(drawn, requires_grad, out)


def rand_like(
    input: Tensor, *, dtype: Dtype = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None, generator: AnyGenerator = None,
) -> Tensor:  # fmt: skip
    """Uniform numbers in [0, 1) with the shape, dtype and device of a tensor."""
    drawn = _c.rand(input.shape, dtype=dtype or input.dtype, device=device or input.device, generator=generator)
    return finished(drawn, requires_grad)


def randn_like(
    input: Tensor, *, dtype: Dtype = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None, generator: AnyGenerator = None,
) -> Tensor:  # fmt: skip
    """Normal numbers with the shape, dtype and device of a tensor."""
    drawn = _c.randn(input.shape, dtype=dtype or input.dtype, device=device or input.device, generator=generator)
    return finished(drawn, requires_grad)


def randint(
    *numbers: Any, low: int | None = None, high: int | None = None, size: Any = None, shape: Any = None,
    generator: AnyGenerator = None, dtype: Dtype = None, device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Whole numbers in [low, high), or in [0, high), int64 unless a dtype is given."""
    given = list(numbers)
    size = shape if size is None else size
    if size is None and given:
        size = given.pop()
    if high is None:
        high = given.pop()
    if low is None:
        low = given.pop() if given else 0
    if given or size is None:
        raise TypeError("randint() takes a high end and a size, or a low end, a high end and a size")
    wanted = _c.int64 if dtype is None else dtype
    exact = wanted if wanted in (_c.int64, _c.int32) else _c.int64
    drawn = _c.randint(low, high, size, dtype=exact, device=device, generator=generator)
    return finished(drawn.to(wanted), requires_grad)


def randint_like(
    input: Tensor, low: int = 0, high: int | None = None, *, dtype: Dtype = None, device: Any = None
) -> Tensor:
    """Whole numbers in [low, high), or in [0, low), with the shape, dtype and device of a tensor."""
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, input.shape, dtype=dtype or input.dtype, device=device or input.device)


def randperm(
    n: int, *, generator: AnyGenerator = None, dtype: Dtype = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A random permutation of 0 … n-1, int64 unless a dtype is given."""
    return _drawn(_c.randperm(n, device=device, generator=generator), dtype, requires_grad)


def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: AnyGenerator = None, dtype: Dtype = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Normal numbers: of a size, or one for each element of the tensors mean and std."""
    tensors = [value for value in (mean, std) if isinstance(value, Tensor)]
    if tensors and size is None:
        size = _c.broadcast_shapes(*(value.shape for value in tensors))
        device = tensors[0].device
        dtype = tensors[0].dtype if dtype is None else dtype
    if isinstance(std, Tensor):
        _c._check_range("normal", floats(std), 0.0, math.inf)
    elif std < 0:
        raise _c.InvalidArgumentError(f"[normal] the deviation is {std}, and it must not be negative")
    drawn = randn(size, dtype=dtype, device=device, generator=generator) * std + mean
    return _drawn(drawn, dtype, requires_grad, out)


def bernoulli(
    input: Any, p: Any = None, *, shape: Any = None, generator: AnyGenerator = None, device: Any = None,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """1 with a probability, otherwise 0. The probabilities are the elements of a tensor, or one number p for all. For a
    number, the second argument is a shape."""
    if not isinstance(input, Tensor):
        return _c.bernoulli(input, p if shape is None else shape, device=device, generator=generator)
    drawn = _c.rand(input.shape, device=input.device, generator=generator)
    return into(out, _c.lt(drawn, _probability("bernoulli", input if p is None else p)).to(input.dtype))


def _probability(name: str, p: Any) -> Any:
    """A probability, or a tensor of probabilities. The next read fails if an element is none."""
    if isinstance(p, Tensor):
        _c._check_range(name, floats(p), 0.0, 1.0)
    elif not 0 <= p <= 1:
        raise _c.InvalidArgumentError(f"[{name}] the probability {p} is not in [0, 1]")
    return p


def _positive(name: str, what: str, value: float) -> float:
    if not value > 0:
        raise _c.InvalidArgumentError(f"[{name}] {what} is {value}, and it must be positive")
    return value


def _bernoulli(self: Tensor, p: Any = None, *, generator: AnyGenerator = None) -> Tensor:
    """1 with the probability that the element gives, or with the probability p, otherwise 0."""
    return bernoulli(self, p, generator=generator)


Tensor.bernoulli = _bernoulli


@_method(Tensor)
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: AnyGenerator = None
) -> Tensor:
    """Draws categories from a row of weights (C), or from each row (N, C), as int64 (…, num_samples)."""
    rows = input.reshape((1, -1)) if input.ndim == 1 else input
    rows = rows.float() if rows.dtype is _c.float64 else rows
    drawn = _c._functional.multinomial(rows, num_samples, replacement, generator=generator)
    return drawn.squeeze(0) if input.ndim == 1 else drawn


def poisson(input: Tensor, generator: AnyGenerator = None) -> Tensor:
    """Whole numbers of Poisson's distribution. The elements are the means. Takes as many steps as the largest number.
    Waits for the device."""
    _c._check_range("poisson", input, 0.0, 3.4028234e38)
    total, count = _c.zeros_like(input), _c.zeros_like(input)
    while True:
        total = total - _c.log(1 - _c.rand(input.shape, device=input.device, generator=generator)).to(input.dtype)
        within = _c.le(total, input)
        if not _c.any(within).item():
            return count
        count = count + within.to(input.dtype)


@_method(Tensor)
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: AnyGenerator = None) -> Tensor:
    """Overwrites each element with 1, with probability p, or with 0. Returns this tensor."""
    drawn = _c.rand(self.shape, device=self.device, generator=generator)
    return self.copy_(_c.lt(drawn, _probability("bernoulli_", p)))


def _uniform(self: Tensor, generator: AnyGenerator) -> Tensor:
    """Numbers in (0, 1]."""
    return 1 - _c.rand(self.shape, device=self.device, generator=generator)


@_method(Tensor)
def exponential_(self: Tensor, lambd: float = 1, *, generator: AnyGenerator = None) -> Tensor:
    """Overwrites the elements with numbers of the exponential distribution. Returns this tensor."""
    drawn = -_c.log(_uniform(self, generator))
    return write_result("exponential_", self, drawn / _positive("exponential_", "lambd", lambd))


@_method(Tensor)
def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: AnyGenerator = None) -> Tensor:
    """Overwrites the elements with numbers whose logarithms are normal. Returns this tensor."""
    drawn = _c.randn(self.shape, device=self.device, generator=generator)
    return write_result("log_normal_", self, _c.exp(drawn * _positive("log_normal_", "std", std) + mean))


@_method(Tensor)
def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: AnyGenerator = None) -> Tensor:
    """Overwrites the elements with numbers of Cauchy's distribution. Returns this tensor."""
    _positive("cauchy_", "sigma", sigma)
    return write_result("cauchy_", self, median + sigma * _c.tan(math.pi * (_uniform(self, generator) - 0.5)))


@_method(Tensor)
def geometric_(self: Tensor, p: float, *, generator: AnyGenerator = None) -> Tensor:
    """Overwrites the elements with numbers of the geometric distribution: the trials up to the first success. Returns
    this tensor."""
    if not 0 < p < 1:
        raise _c.InvalidArgumentError(f"[geometric_] the probability {p} is not between 0 and 1")
    return self.copy_(_c.maximum(_c.ceil(_c.log(_uniform(self, generator)) / math.log1p(-p)), 1.0))


@_method(Tensor)
def random_(self: Tensor, *ends: int, generator: AnyGenerator = None) -> Tensor:
    """Overwrites the elements with random whole numbers: in [0, end), in [start, end), or among all that the dtype
    represents exactly. Returns this tensor."""
    largest = {_c.float64: 2**32, _c.float32: 2**24 + 1, _c.float16: 2**11 + 1, _c.bfloat16: 2**8 + 1}
    largest |= {_c.int32: 2**31 - 1, _c.uint8: 2**8, _c.int8: 2**7, _c.int16: 2**15}
    largest |= {_c.uint16: 2**16, _c.uint32: 2**32}

    def drawn(low: int, high: int) -> Tensor:
        return _c.randint(low, high, self.shape, device=self.device, generator=generator)

    if not ends and self.dtype in (_c.int64, _c.uint64):
        return self.copy_(drawn(0, 2**31) * 2**32 + drawn(0, 2**32))
    low, high = ends if len(ends) == 2 else (0, ends[0] if ends else largest.get(self.dtype, 2))
    return self.copy_(drawn(low, high))


_restart = Generator.manual_seed


def _reseed(self: Generator, seed: int) -> Generator:
    """Restarts with another seed. Returns this generator."""
    _restart(self, seed)
    return self


def _seed_of(self: Generator) -> int:
    """The seed."""
    return self.get_state()[0]


def _seed_anew(self: Generator) -> int:
    """Restarts with a seed of the operating system, which is the result."""
    import secrets

    number = secrets.randbits(63)
    _restart(self, number)
    return number


Generator.manual_seed = _reseed
Generator.initial_seed = _seed_of
Generator.seed = _seed_anew


def manual_seed(seed: int) -> Generator:
    """Seeds this thread's default generators on all devices, and returns that of the default device."""
    _c.manual_seed(int(seed))
    return _c.default_generator()


def initial_seed() -> int:
    """The seed of this thread's default generator."""
    return _c.default_generator().get_state()[0]


def seed() -> int:
    """Seeds the default generators with a number of the operating system, and returns it."""
    import secrets

    number = secrets.randbits(63)
    _c.manual_seed(number)
    return number


def get_rng_state() -> Tensor:
    """The state of this thread's default generator, as int64 (2)."""
    state = _c.default_generator().get_state()
    return _c.asarray([number - 2**64 if number >= 2**63 else number for number in state], dtype=_c.int64)


def set_rng_state(new_state: Tensor) -> None:
    """Continues from a state of get_rng_state()."""
    first, second = (number % 2**64 for number in new_state.tolist())
    _c.default_generator().set_state((first, second))
