"""The name of torch.autograd.profiler that programs use: parts of a timeline."""

from ..trace import scope as record_function

__all__ = ["record_function"]
