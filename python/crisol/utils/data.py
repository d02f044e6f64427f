"""crisol.data, under PyTorch's names."""

import sys

from ..data import *
from ..data import __all__ as __all__

# PyTorch has files for datasets, loaders and samplers. Here they are this module.
for _file in ("dataloader", "dataset", "sampler", "distributed", "_utils"):
    globals()[_file] = sys.modules[f"{__name__}.{_file}"] = sys.modules[__name__]


def __dir__():
    return __all__
