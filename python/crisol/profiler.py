"""The name of torch.profiler that programs use: parts of a timeline. crisol.trace records timelines."""

from .trace import scope as record_function

__all__ = ["record_function"]
