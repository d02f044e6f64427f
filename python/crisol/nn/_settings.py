"""The settings of layers as attributes, such as Linear.in_features. They are the arguments of the constructors.

The values come from the library's layer, so layers inside of the library's models have them too.
"""

import re

from .._crisol import _nn

# These modules have children, whose names are attributes.
_MODELS = (_nn.AlexNet, _nn.MobileNetV2, _nn.ResNet, _nn.RowLSTM, _nn.SimpleCNN, _nn.VGG)
# The sizes of these layers are an int or a tuple, in the form in which they were given.
_POOLS = (_nn.MaxPool2d, _nn.AvgPool2d, _nn.AdaptiveAvgPool2d, _nn.MaxPool3d, _nn.AvgPool3d, _nn.AdaptiveAvgPool3d)


class Setting:
    """An argument of a layer's constructor. Assignments raise, because they would not change the layer."""

    def __init__(self, owner, name, place):
        self._owner, self._name, self._place = owner, name, place
        self.__doc__ = f"The argument `{name}` of the constructor."

    def __get__(self, layer, cls=None):
        if layer is None:
            return self
        attributes = layer.__dict__
        if self._name in attributes:
            return attributes[self._name]
        if "_arguments" in attributes:
            given = attributes["_arguments"][self._place]
            if self._owner in _POOLS and given is None and self._name == "stride":
                return layer.kernel_size
            if self._owner in _POOLS or self._name == "inplace" or isinstance(given, str):
                return given
        return layer._made_with()[self._place]

    def __set__(self, layer, value):
        if type(layer) is self._owner:
            raise AttributeError(f"the {self._name} of a {self._owner.__name__} is fixed: make another layer")
        layer.__dict__[self._name] = value  # A class derived from the layer may use the name for itself.


def names_of_arguments(cls):
    """The arguments of a layer's constructor, except for `device` and `dtype`."""
    signature = getattr(vars(cls).get("__init__"), "__nb_signature__", None)
    names = re.findall(r"(\w+): ", signature[0][0]) if signature else []
    return [name for name in names if name not in ("device", "dtype")]


for _class in list(vars(_nn).values()):
    if isinstance(_class, type) and issubclass(_class, _nn.Module) and not issubclass(_class, _MODELS):
        for _place, _name in enumerate(names_of_arguments(_class)):
            if not hasattr(_class, _name) and not _name.startswith("_"):
                setattr(_class, _name, Setting(_class, _name, _place))


def _statistic(self, name):
    """The statistics that a norm does not keep are None."""
    if name in ("running_mean", "running_var", "num_batches_tracked") and not self.track_running_stats:
        return None
    return _nn.Module.__getattr__(self, name)


_nn.BatchNorm2d.__getattr__ = _nn.InstanceNorm2d.__getattr__ = _statistic
