"""The version, under the names of torch.version."""

from ._crisol import __version__ as __version__

cuda = hip = None  # Kernels are OpenCL for devices of any vendor.
__all__ = ["__version__", "cuda", "hip"]
