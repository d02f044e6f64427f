"""The settings of layers as attributes, such as Linear.in_features: the arguments of the constructors."""

import re

from .._crisol import _nn

# These have children of their own, whose names are attributes.
_MODELS = (_nn.AlexNet, _nn.MobileNetV2, _nn.ResNet, _nn.RowLSTM, _nn.SimpleCNN, _nn.VGG)
_SIZES = {"kernel_size", "stride", "padding", "dilation", "output_padding"}
_AXES = {
    _nn.Conv1d: 1,
    _nn.ConvTranspose1d: 1,
    _nn.Conv2d: 2,
    _nn.ConvTranspose2d: 2,
    _nn.Conv3d: 3,
    _nn.ConvTranspose3d: 3,
}


class Setting:
    """An argument of the constructor of a layer. An assignment would not change the layer, so it is refused."""

    def __init__(self, owner, name, place):
        self._owner, self._name, self._place = owner, name, place
        self.__doc__ = f"The argument `{name}` of the constructor."

    def __get__(self, layer, cls=None):
        if layer is None:
            return self
        attributes = layer.__dict__
        if self._name in attributes:
            return attributes[self._name]
        if "_arguments" not in attributes:
            raise AttributeError(f"a {type(layer).__name__} that the library made does not know its '{self._name}'")
        value = attributes["_arguments"][self._place]
        if value is None and self._name == "stride":
            return layer.kernel_size
        axes = _AXES.get(self._owner)
        return (value,) * axes if axes and self._name in _SIZES and isinstance(value, int) else value

    def __set__(self, layer, value):
        if type(layer) is self._owner:
            raise AttributeError(f"the {self._name} of a {self._owner.__name__} is fixed: make another layer")
        layer.__dict__[self._name] = value  # A class below the layer may use the name for itself.


def _names_of_arguments(cls):
    signature = getattr(vars(cls).get("__init__"), "__nb_signature__", None)
    return re.findall(r"(\w+): ", signature[0][0]) if signature else []


for _class in list(vars(_nn).values()):
    if isinstance(_class, type) and issubclass(_class, _nn.Module) and not issubclass(_class, _MODELS):
        for _place, _name in enumerate(_names_of_arguments(_class)):
            if not hasattr(_class, _name):
                setattr(_class, _name, Setting(_class, _name, _place))
