"""The names of torch.nn.parameter."""

from .._crisol._nn import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]


class UninitializedParameter:
    """The type of no value: a lazy layer has no parameters before its first call. For isinstance()."""


class UninitializedBuffer:
    """The type of no value."""
