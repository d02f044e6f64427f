"""Layers and models, under PyTorch's names."""

from .._crisol import _nn
from . import _copies, _hooks, _repr, _settings  # noqa: F401
from .._crisol._nn import *  # noqa: F403

for _name, _class in vars(_nn).items():
    if isinstance(_class, type):
        _class.__module__ = "crisol.nn"

from . import functional, init, models, utils  # noqa: E402, F401
from . import _recurrent, _special  # noqa: E402, F401
from . import _attention, _layers, _transformer, loss  # noqa: E402
from ._attention import *  # noqa: E402, F403
from ._layers import *  # noqa: E402, F403
from ._transformer import *  # noqa: E402, F403
from .loss import *  # noqa: E402, F403

for _name in (*loss.__all__, *_layers.__all__, *_attention.__all__, *_transformer.__all__):
    vars()[_name].__module__ = "crisol.nn"

# mypy treats a list that it can read as all exports of the module. The extension's names would be missing in such a
# list.
__all__ = [_name for _name in vars() if not _name.startswith("_")]


def __dir__():
    return __all__
