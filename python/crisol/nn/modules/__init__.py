"""The layers under the names of torch.nn.modules, and classes that tell which kind a layer has."""

from abc import ABC
from typing import Any

from .. import *  # noqa: F403
from ..._crisol import _nn
from .._attention import NonDynamicallyQuantizableLinear as NonDynamicallyQuantizableLinear

__all__ = ["Module"]  # The others are listed in crisol.nn.


def _kind(name: str, *classes: str) -> Any:
    """A class for isinstance(): layers of any of the classes are of this kind."""
    kind = type(name, (ABC,), {"__doc__": f"Layers such as {classes[0]}, for isinstance().", "__module__": __name__})
    for each in classes:
        kind.register(globals()[each])  # type: ignore[attr-defined]
    return kind


_BatchNorm = _kind("_BatchNorm", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
_InstanceNorm = _kind("_InstanceNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d")
_NormBase = _kind("_NormBase", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d")
_ConvTransposeNd = _kind("_ConvTransposeNd", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
_ConvNd = _kind("_ConvNd", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
_DropoutNd = _kind("_DropoutNd", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout")
_Loss = _kind("_Loss", "MSELoss", "L1Loss", "CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss", "KLDivLoss")


def _repeated(n: int) -> Any:
    def repeat(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, (tuple, list)) else (x,) * n

    return repeat


_single, _pair, _triple, _quadruple = map(_repeated, (1, 2, 3, 4))
_ntuple = _repeated
Module = _nn.Module


def __dir__():
    return __all__
