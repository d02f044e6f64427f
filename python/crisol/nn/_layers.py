"""Layers that are made of functions. Layers of one kind have a common base class, which calls a function with the
layer's settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._crisol._nn import BatchNorm2d, Module, Parameter
from . import functional as F

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
]
__all__ += ["Bilinear", "ChannelShuffle", "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d"]
__all__ += ["ConstantPad2d", "ConstantPad3d", "CosineSimilarity", "Dropout1d", "Dropout2d", "Dropout3d", "EmbeddingBag"]
__all__ += ["FeatureAlphaDropout", "Fold", "GLU", "Hardshrink", "Hardtanh", "LPPool1d", "LPPool2d", "LocalResponseNorm"]
__all__ += ["MaxPool1d", "MaxUnpool2d", "PReLU", "PairwiseDistance", "ParameterDict", "ParameterList", "PixelShuffle"]
__all__ += ["PixelUnshuffle", "RMSNorm", "RReLU", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d"]
__all__ += [
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Softmax2d",
    "Softmin",
    "Softshrink",
    "Softsign",
]
__all__ += ["Tanhshrink", "Threshold", "Unflatten", "Unfold", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]
__all__ += ["DataParallel", "SyncBatchNorm", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]


class _Function(Module):
    """A layer that calls a function with its settings, which are attributes."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._settings = list(settings)
        for name, value in settings.items():
            self.__dict__[name] = value

    def _given(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self._settings}

    def extra_repr(self) -> str:
        """The settings."""
        return ", ".join(f"{name}={value}" for name, value in self._given().items())


class _Pad(_Function):
    _axes, _mode = 1, "constant"

    def __init__(self, padding: Any, value: float | None = None) -> None:
        super().__init__(padding=(padding,) * (2 * self._axes) if isinstance(padding, int) else tuple(padding))
        self.__dict__["value"] = value

    def forward(self, input: Tensor) -> Tensor:
        """The padded input."""
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        """The numbers of added elements, for printing."""
        return repr(self.padding) if self.value is None else f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_Pad):
    """Adds elements with one value at the ends of input (…, L)."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding, value)


class ConstantPad2d(ConstantPad1d):
    """Adds elements with one value at the ends of input (…, H, W)."""

    _axes = 2


class ConstantPad3d(ConstantPad1d):
    """Adds elements with one value at the ends of input (…, D, H, W)."""

    _axes = 3


class ZeroPad1d(_Pad):
    """Adds zeros at the ends of input (…, L)."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ZeroPad2d(ZeroPad1d):
    """Adds zeros at the ends of input (…, H, W)."""

    _axes = 2


class ZeroPad3d(ZeroPad1d):
    """Adds zeros at the ends of input (…, D, H, W)."""

    _axes = 3


class ReflectionPad1d(ZeroPad1d):
    """Adds reflected elements at the ends of input (…, L)."""

    _mode = "reflect"


class ReflectionPad2d(ReflectionPad1d):
    """Adds reflected elements at the ends of input (…, H, W)."""

    _axes = 2


class ReflectionPad3d(ReflectionPad1d):
    """Adds reflected elements at the ends of input (…, D, H, W)."""

    _axes = 3


class ReplicationPad1d(ZeroPad1d):
    """Repeats the elements at the ends of input (…, L)."""

    _mode = "replicate"


class ReplicationPad2d(ReplicationPad1d):
    """Repeats the elements at the ends of input (…, H, W)."""

    _axes = 2


class ReplicationPad3d(ReplicationPad1d):
    """Repeats the elements at the ends of input (…, D, H, W)."""

    _axes = 3


class CircularPad1d(ZeroPad1d):
    """Adds elements from the opposite end of input (…, L)."""

    _mode = "circular"


class CircularPad2d(CircularPad1d):
    """Adds elements from the opposite ends of input (…, H, W)."""

    _axes = 2


class CircularPad3d(CircularPad1d):
    """Adds elements from the opposite ends of input (…, D, H, W)."""

    _axes = 3


class PReLU(Module):
    """x, or weight · x where x is negative. The weight is trained: one number, or one for each channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.__dict__["num_parameters"] = num_parameters
        self.weight = Parameter(_c.full((num_parameters,), float(init), dtype=dtype, device=device))

    def forward(self, input: Tensor) -> Tensor:
        """functional.prelu()"""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The number of weights, for printing."""
        return f"num_parameters={self.num_parameters}"


class GLU(_Function):
    """functional.glu()"""

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim=dim)

    def forward(self, input: Tensor) -> Tensor:
        """functional.glu()"""
        return F.glu(input, self.dim)


class Hardtanh(_Function):
    """functional.hardtanh()"""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(min_val=min_val, max_val=max_val)

    def forward(self, input: Tensor) -> Tensor:
        """functional.hardtanh()"""
        return F.hardtanh(input, self.min_val, self.max_val)


class Hardshrink(_Function):
    """functional.hardshrink()"""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)

    def forward(self, input: Tensor) -> Tensor:
        """functional.hardshrink()"""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Function):
    """functional.softshrink()"""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)

    def forward(self, input: Tensor) -> Tensor:
        """functional.softshrink()"""
        return F.softshrink(input, self.lambd)


class Threshold(_Function):
    """functional.threshold()"""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(threshold=threshold, value=value)

    def forward(self, input: Tensor) -> Tensor:
        """functional.threshold()"""
        return F.threshold(input, self.threshold, self.value)


class RReLU(_Function):
    """functional.rrelu()"""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(lower=lower, upper=upper)

    def forward(self, input: Tensor) -> Tensor:
        """functional.rrelu()"""
        return F.rrelu(input, self.lower, self.upper, self.training)


class Softsign(Module):
    """functional.softsign()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.softsign()"""
        return F.softsign(input)


class Tanhshrink(Module):
    """functional.tanhshrink()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.tanhshrink()"""
        return F.tanhshrink(input)


class Softmin(_Function):
    """functional.softmin()"""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__(dim=dim)

    def forward(self, input: Tensor) -> Tensor:
        """functional.softmin()"""
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    """functional.softmax() over the channels of input (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """functional.softmax()"""
        return F.softmax(input, -3)


class _Drop(_Function):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise _c.InvalidArgumentError(f"[dropout] p is {p}, and it must be in [0, 1]")
        super().__init__(p=p)


class Dropout1d(_Drop):
    """functional.dropout1d()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.dropout1d()"""
        return F.dropout1d(input, self.p, self.training)


class Dropout2d(_Drop):
    """functional.dropout2d()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.dropout2d()"""
        return F.dropout2d(input, self.p, self.training)


class Dropout3d(_Drop):
    """functional.dropout3d()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.dropout3d()"""
        return F.dropout3d(input, self.p, self.training)


class AlphaDropout(_Drop):
    """functional.alpha_dropout()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.alpha_dropout()"""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_Drop):
    """functional.feature_alpha_dropout()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.feature_alpha_dropout()"""
        return F.feature_alpha_dropout(input, self.p, self.training)


class MaxPool1d(_Function):
    """functional.max_pool1d()"""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(kernel_size=kernel_size, stride=kernel_size if stride is None else stride, padding=padding,
                         dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)  # fmt: skip

    def forward(self, input: Tensor) -> Any:
        """functional.max_pool1d()"""
        return F.max_pool1d(input, **self._given())


class AvgPool1d(_Function):
    """functional.avg_pool1d()"""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(kernel_size=kernel_size, stride=kernel_size if stride is None else stride, padding=padding,
                         ceil_mode=ceil_mode, count_include_pad=count_include_pad)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """functional.avg_pool1d()"""
        return F.avg_pool1d(input, **self._given())


class LPPool1d(_Function):
    """functional.lp_pool1d()"""

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__(norm_type=norm_type, kernel_size=kernel_size, stride=stride, ceil_mode=ceil_mode)

    def forward(self, input: Tensor) -> Tensor:
        """functional.lp_pool1d()"""
        return F.lp_pool1d(input, **self._given())


class LPPool2d(LPPool1d):
    """functional.lp_pool2d()"""

    def forward(self, input: Tensor) -> Tensor:
        """functional.lp_pool2d()"""
        return F.lp_pool2d(input, **self._given())


class MaxUnpool2d(_Function):
    """functional.max_unpool2d()"""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__(kernel_size=kernel_size, stride=stride, padding=padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """functional.max_unpool2d()"""
        return F.max_unpool2d(input, indices, **self._given(), output_size=output_size)


class AdaptiveAvgPool1d(_Function):
    """functional.adaptive_avg_pool1d()"""

    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size=output_size)

    def forward(self, input: Tensor) -> Tensor:
        """functional.adaptive_avg_pool1d()"""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveMaxPool1d(_Function):
    """functional.adaptive_max_pool1d()"""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size=output_size, return_indices=return_indices)

    def forward(self, input: Tensor) -> Any:
        """functional.adaptive_max_pool1d()"""
        return F.adaptive_max_pool1d(input, **self._given())


class AdaptiveMaxPool2d(AdaptiveMaxPool1d):
    """functional.adaptive_max_pool2d()"""

    def forward(self, input: Tensor) -> Any:
        """functional.adaptive_max_pool2d()"""
        return F.adaptive_max_pool2d(input, **self._given())


class AdaptiveMaxPool3d(AdaptiveMaxPool1d):
    """functional.adaptive_max_pool3d()"""

    def forward(self, input: Tensor) -> Any:
        """functional.adaptive_max_pool3d()"""
        return F.adaptive_max_pool3d(input, **self._given())


class Upsample(_Function):
    """functional.interpolate()"""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(size=size, scale_factor=scale_factor, mode=mode, align_corners=align_corners,
                         recompute_scale_factor=recompute_scale_factor)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """functional.interpolate()"""
        return F.interpolate(input, **self._given())

    def extra_repr(self) -> str:
        """The size or the factor, and the mode, for printing."""
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={self.__dict__[name]}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """functional.interpolate() of images, with the nearest elements."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """functional.interpolate() of images, with mode "bilinear" and align_corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class PixelShuffle(_Function):
    """functional.pixel_shuffle()"""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__(upscale_factor=upscale_factor)

    def forward(self, input: Tensor) -> Tensor:
        """functional.pixel_shuffle()"""
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(_Function):
    """functional.pixel_unshuffle()"""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__(downscale_factor=downscale_factor)

    def forward(self, input: Tensor) -> Tensor:
        """functional.pixel_unshuffle()"""
        return F.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(_Function):
    """functional.channel_shuffle()"""

    def __init__(self, groups: int) -> None:
        super().__init__(groups=groups)

    def forward(self, input: Tensor) -> Tensor:
        """functional.channel_shuffle()"""
        return F.channel_shuffle(input, self.groups)


class Unfold(_Function):
    """functional.unfold()"""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)

    def forward(self, input: Tensor) -> Tensor:
        """functional.unfold()"""
        return F.unfold(input, **self._given())


class Fold(_Function):
    """functional.fold()"""

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__(output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding,
                         stride=stride)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """functional.fold()"""
        return F.fold(input, **self._given())


class Unflatten(_Function):
    """Divides an axis into several axes."""

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__(dim=dim, unflattened_size=tuple(unflattened_size))

    def forward(self, input: Tensor) -> Tensor:
        """crisol.unflatten()"""
        return input.unflatten(self.dim, self.unflattened_size)


class RMSNorm(Module):
    """functional.rms_norm() with a trained weight."""

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.__dict__.update(normalized_shape=shape, eps=eps, elementwise_affine=elementwise_affine)
        self.weight = Parameter(_c.ones(shape, dtype=dtype, device=device)) if elementwise_affine else None

    def forward(self, x: Tensor) -> Tensor:
        """functional.rms_norm()"""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The settings."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class LocalResponseNorm(_Function):
    """functional.local_response_norm()"""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__(size=size, alpha=alpha, beta=beta, k=k)

    def forward(self, input: Tensor) -> Tensor:
        """functional.local_response_norm()"""
        return F.local_response_norm(input, **self._given())


class CosineSimilarity(_Function):
    """functional.cosine_similarity()"""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__(dim=dim, eps=eps)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """functional.cosine_similarity()"""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(_Function):
    """functional.pairwise_distance()"""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__(p=p, eps=eps, keepdim=keepdim)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """functional.pairwise_distance()"""
        return F.pairwise_distance(x1, x2, self.p, self.eps, self.keepdim)


class Bilinear(Module):
    """functional.bilinear() with trained weights."""

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.__dict__.update(in1_features=in1_features, in2_features=in2_features, out_features=out_features)
        bound = in1_features**-0.5

        def drawn(*shape: int) -> Parameter:
            numbers = _c.rand(shape, device=device) * (2 * bound) - bound
            return Parameter(numbers if dtype is None else numbers.to(dtype))

        self.weight = drawn(out_features, in1_features, in2_features)
        self.bias = drawn(out_features) if bias else None

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """functional.bilinear()"""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}"
        return f"{sizes}, out_features={self.out_features}, bias={self.bias is not None}"


class EmbeddingBag(Module):
    """functional.embedding_bag() with a trained table."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.__dict__.update(num_embeddings=num_embeddings, embedding_dim=embedding_dim, mode=mode, max_norm=max_norm)
        self.__dict__.update(padding_idx=padding_idx, include_last_offset=include_last_offset)
        table = _c.randn((num_embeddings, embedding_dim), device=device) if _weight is None else _weight
        if padding_idx is not None and _weight is None:
            table[padding_idx] = 0
        self.weight = Parameter(table if dtype is None else table.to(dtype))

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """functional.embedding_bag()"""
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, mode=self.mode, padding_idx=self.padding_idx,
                               per_sample_weights=per_sample_weights,
                               include_last_offset=self.include_last_offset)  # fmt: skip

    def extra_repr(self) -> str:
        """The sizes and the mode, for printing."""
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}"


class DataParallel(Module):
    """A module on one device, under the attribute `module`. crisol.distributed uses several devices."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's result."""
        return self.module(*inputs, **kwargs)


class SyncBatchNorm(BatchNorm2d):
    """BatchNorm2d, with the statistics of one process."""

    @staticmethod
    def convert_sync_batchnorm(module: Module, process_group: Any = None) -> Module:
        """The module itself."""
        return module


class ParameterList(Module):
    """A list of parameters. They belong to the module that holds the list."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        self.__dict__["_count"] = 0
        self.extend(values)

    def append(self, value: Any) -> ParameterList:
        """Adds a parameter at the end. A tensor is converted to a parameter."""
        given = isinstance(value, Tensor) and not isinstance(value, Parameter)
        setattr(self, str(self._count), Parameter(value) if given else value)
        self.__dict__["_count"] = self._count + 1
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Adds parameters at the end."""
        for value in values:
            self.append(value)
        return self

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, str(i)) for i in range(self._count))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ParameterList(getattr(self, str(i)) for i in range(*index.indices(self._count)))
        if not -self._count <= index < self._count:
            raise IndexError(f"there is no parameter {index} in a list of {self._count}")
        return getattr(self, str(index % self._count))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(index % self._count), value)


class ParameterDict(Module):
    """A dict of parameters. They belong to the module that holds the dict."""

    def __init__(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__()
        self.__dict__["_keys"] = []
        self.update(parameters)

    def update(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Adds parameters by name."""
        for name, value in dict(parameters).items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        given = isinstance(value, Tensor) and not isinstance(value, Parameter)
        setattr(self, name, Parameter(value) if given else value)
        if name not in self._keys:
            self._keys.append(name)

    def __getitem__(self, name: str) -> Any:
        if name not in self._keys:
            raise KeyError(name)
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def keys(self) -> Iterator[str]:
        """Iterates over the names."""
        return iter(self._keys)

    def values(self) -> Iterator[Any]:
        """Iterates over the parameters."""
        return (getattr(self, name) for name in self._keys)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Iterates over the parameters with their names."""
        return ((name, getattr(self, name)) for name in self._keys)
