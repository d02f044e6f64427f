"""Layers and models, under PyTorch's names."""

from .._crisol import _nn
from .._public import belongs_to as _belongs_to
from . import _copies, _hooks, _lists, _repr, _settings  # noqa: F401
from .._crisol._nn import *  # noqa: F403

_belongs_to("crisol.nn", (_class for _class in vars(_nn).values() if isinstance(_class, type)))

from . import functional, init, models, parameter, utils  # noqa: E402, F401
from . import _recurrent, _special  # noqa: E402, F401
from . import _activation_layers, _adaptive, _attention, _containers, _layers, _lazy, _padding_layers  # noqa: E402
from . import _pooling, _transformer, loss  # noqa: E402
from ._activation_layers import *  # noqa: E402, F403
from ._adaptive import *  # noqa: E402, F403
from ._attention import *  # noqa: E402, F403
from ._containers import *  # noqa: E402, F403
from ._layers import *  # noqa: E402, F403
from ._lazy import *  # noqa: E402, F403
from ._padding_layers import *  # noqa: E402, F403
from ._pooling._layers import *  # noqa: E402, F403
from ._recurrent import *  # noqa: E402, F403
from .parameter import UninitializedBuffer, UninitializedParameter  # noqa: E402, F401
from ._transformer import *  # noqa: E402, F403
from .loss import *  # noqa: E402, F403

_sources = [_activation_layers, _adaptive, _attention, _containers, _layers, _lazy, _padding_layers, _pooling._layers]
for _source in (*_sources, _transformer, loss):
    _belongs_to("crisol.nn", [vars(_source)[_name] for _name in _source.__all__])

# mypy treats a list that it can read as all exports of the module. The extension's names would be missing in such a
# list.
__all__ = [_name for _name in vars() if not _name.startswith("_")]

from . import attention, modules  # noqa: E402, F401

vars()["__all__"] += ["attention", "modules"]  # mypy would take a plain statement for all exports.


def __dir__():
    return __all__
