"""Models in ONNX files: load() gives a module, save() writes one."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from ._crisol import Tensor, _onnx
from ._crisol._nn import Module
from ._crisol._onnx import Model, ValueInfo, check, info, load, supported_ops

__all__ = ["Model", "ValueInfo", "check", "info", "load", "save", "supported_ops"]

for _class in (Model, ValueInfo):
    _class.__module__ = "crisol.onnx"


def save(
    path: str | PathLike[str],
    model: Module | Callable[..., Any],
    examples: Tensor | Sequence[Tensor],
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    batch: str = "batch",
    batch_axis: int = 0,
    state: Mapping[str, Tensor] | None = None,
) -> None:
    """Writes a module as an ONNX file, by running it on example tensors.

    The example gives the element types and sizes of the inputs. Axis `batch_axis` is the batch: the model in the file
    takes any size there. `inputs` and `outputs` are names. A module runs in evaluation. It and each module below it
    keep their modes. `model` may also be a function of tensors, with the tensors that it uses in `state`, by name.
    """
    examples = [examples] if isinstance(examples, Tensor) else list(examples)
    is_module = isinstance(model, Module)
    if state is None:
        state = model.state_dict() if is_module else {}
    modes = [(module, module.training) for module in model.modules()] if is_module else []
    try:
        for module, _ in modes:
            module.training = False
        _onnx._save(path, model, examples, state, list(inputs), list(outputs), batch, batch_axis)
    finally:
        for module, mode in modes:
            module.training = mode


def __dir__():
    return __all__
