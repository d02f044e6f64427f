"""The name of torch.nn.parameter."""

from .._crisol._nn import Buffer, Parameter

__all__ = ["Buffer", "Parameter"]
