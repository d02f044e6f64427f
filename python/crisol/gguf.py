"""GGUF files of llama.cpp, read with the package `gguf`."""

import importlib
import os

from . import QuantizedWeight, Tensor, asarray

__all__ = ["load"]


def load(path: str | os.PathLike[str]) -> dict[str, Tensor | QuantizedWeight]:
    """The tensors of a GGUF file by their names.

    Matrices of the types Q8_0 and Q4_0 become a QuantizedWeight with the blocks as they are. Tensors of other quantised
    types, and of bfloat16, become float32.
    """
    gguf = importlib.import_module("gguf")
    quantized = {"Q8_0": QuantizedWeight.from_q8_0, "Q4_0": QuantizedWeight.from_q4_0}
    tensors: dict[str, Tensor | QuantizedWeight] = {}
    for tensor in gguf.GGUFReader(path).tensors:
        kind = tensor.tensor_type
        shape = tuple(int(size) for size in reversed(tensor.shape))  # GGUF has the last axis first.
        if len(shape) == 2 and kind.name in quantized:
            tensors[tensor.name] = quantized[kind.name](tensor.data, shape)
        else:
            is_plain = tensor.data.dtype != "uint8"
            values = tensor.data if is_plain else gguf.quants.dequantize(tensor.data, kind)
            tensors[tensor.name] = asarray(values.copy()).reshape(shape)
    return tensors


def __dir__() -> list[str]:
    return __all__
