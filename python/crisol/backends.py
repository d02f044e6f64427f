"""The names of torch.backends that programs read and set. They change nothing: OpenCL has none of these libraries."""

import sys
from types import SimpleNamespace as _Names

__all__ = ["cuda", "cudnn", "mps"]


def _never() -> bool:
    """False"""
    return False


cudnn = _Names(enabled=False, benchmark=False, deterministic=True, allow_tf32=False, is_available=_never)
cuda = _Names(matmul=_Names(allow_tf32=False), is_built=_never)
mps = _Names(is_available=_never, is_built=_never)
for _name in __all__:  # `import torch.backends.cudnn as cudnn` imports one.
    sys.modules[f"{__name__}.{_name}"] = globals()[_name]


def __dir__():
    return __all__
