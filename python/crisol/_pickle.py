"""Functions that pickles call. They are here, because functions of the extension cannot be pickled."""

from . import _crisol


def rebuild_tensor(data, shape, dtype, requires_grad):
    """Makes the tensor of a pickle, on the default device."""
    return _crisol._rebuild(data, shape, dtype, requires_grad)


def device_arguments(device):
    """The key that identifies a device in a pickle: its platform, its name, and its number among equal devices."""
    equal = [other for other in _crisol.devices() if key_of(other) == key_of(device)]
    return (*key_of(device), equal.index(device))


def key_of(device):
    return device.info["platform"], device.name


def rebuild_device(platform, name, place):
    """The device of a pickle. If its platform does not exist here, another device with the same name."""
    equal = [device for device in _crisol.devices() if key_of(device) == (platform, name)]
    return equal[place] if place < len(equal) else _crisol.device(name)
