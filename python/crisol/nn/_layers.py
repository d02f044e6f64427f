"""Layers that are made of functions."""

from __future__ import annotations

from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._crisol._nn import Module, Parameter
from . import functional as F
from ._function import _Function

__all__ = ["Bilinear", "ChannelShuffle", "CosineSimilarity", "EmbeddingBag", "Fold", "LocalResponseNorm"]
__all__ += ["PairwiseDistance", "PixelShuffle", "PixelUnshuffle", "RMSNorm", "Unflatten", "Unfold", "Upsample"]
__all__ += ["UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(_Function):
    """functional.interpolate()"""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        if isinstance(scale_factor, (tuple, list)):
            scale_factor = tuple(map(float, scale_factor))
        elif scale_factor is not None:
            scale_factor = float(scale_factor)
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

    _printed = "{size}, alpha={alpha}, beta={beta}, k={k}"

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__(size=size, alpha=alpha, beta=beta, k=k)

    def forward(self, input: Tensor) -> Tensor:
        """functional.local_response_norm()"""
        return F.local_response_norm(input, **self._given())


class CosineSimilarity(_Function):
    """functional.cosine_similarity()"""

    _printed = ""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__(dim=dim, eps=eps)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """functional.cosine_similarity()"""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(_Function):
    """functional.pairwise_distance()"""

    _printed = ""

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
            return Parameter(_c.empty(shape, dtype=dtype, device=device).uniform_(-bound, bound))

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
        self.__dict__.update(padding_idx=padding_idx, include_last_offset=include_last_offset, norm_type=norm_type)
        self.scale_grad_by_freq = scale_grad_by_freq
        table = _weight
        if table is None:
            table = _c.empty((num_embeddings, embedding_dim), dtype=dtype, device=device).normal_()
            if padding_idx is not None:
                table[padding_idx] = 0
        self.weight = Parameter(table if dtype is None else table.to(dtype))

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """functional.embedding_bag()"""
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                               self.mode, False, per_sample_weights, self.include_last_offset,
                               self.padding_idx)  # fmt: skip

    def extra_repr(self) -> str:
        """The sizes, the mode, and what differs from the defaults."""
        usual = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "mode": None, "padding_idx": None}
        given = [f"{name}={getattr(self, name)!r}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *given])
