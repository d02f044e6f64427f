"""Models in ONNX files: load() returns a module, save() writes a module."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from ._crisol import Tensor, _onnx
from ._crisol._nn import Module
from ._crisol._onnx import Model, ValueInfo, check, info, load, supported_ops
from ._public import belongs_to

__all__ = ["Model", "ValueInfo", "check", "info", "load", "save", "supported_ops"]

belongs_to("crisol.onnx", (Model, ValueInfo))


def _tensors_of(result: Any) -> list[Tensor]:
    """The tensors of a result, in order, also from nested tuples, lists and dicts. None is skipped."""
    if result is None:
        return []
    if isinstance(result, Tensor):
        return [result]
    if not isinstance(result, (tuple, list, Mapping)):
        raise TypeError(
            f"onnx.save: the model gives a {type(result).__name__}; it may give tensors, None, and tuples, lists and "
            "dicts of them"
        )
    parts = result.values() if isinstance(result, Mapping) else result
    return [tensor for part in parts for tensor in _tensors_of(part)]


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
    """Writes a module as an ONNX file. The module is run on example tensors.

    The examples give the element types and sizes of the inputs. Axis `batch_axis` is the batch: the model in the file
    takes any size there. `inputs` and `outputs` are names. A module runs in evaluation mode. Afterwards it and all
    modules below it have their own modes again. `model` may also be a function of tensors. `state` then has the tensors
    that it uses, by name. A result may be a tuple, list or dict, also nested. Its tensors are the outputs, and None is
    skipped.
    """
    examples = [examples] if isinstance(examples, Tensor) else list(examples)
    is_module = isinstance(model, Module)
    if state is None:
        state = model.state_dict() if is_module else {}

    def function(*given):
        return _tensors_of(model(*given))

    modes = [(module, module.training) for module in model.modules()] if is_module else []
    try:
        for module, _ in modes:
            module.training = False
        _onnx._save(path, function, examples, state, list(inputs), list(outputs), batch, batch_axis)
    finally:
        for module, mode in modes:
            module.training = mode


def __dir__():
    return __all__
