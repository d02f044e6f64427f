"""Functions by which pickles name what to call. The functions of the extension cannot be pickled."""

from . import _crisol


def rebuild_tensor(data, shape, dtype, requires_grad):
    """The tensor of a pickle, on the default device."""
    return _crisol._rebuild(data, shape, dtype, requires_grad)


def device_arguments(device):
    """What names a device in a pickle: its platform, its name, and its place among equal ones."""
    equal = [other for other in _crisol.devices() if key_of(other) == key_of(device)]
    return (*key_of(device), equal.index(device))


def key_of(device):
    return device.info["platform"], device.name


def rebuild_device(platform, name, place):
    """The device of a pickle, or another one of that name if the platform is not here."""
    equal = [device for device in _crisol.devices() if key_of(device) == (platform, name)]
    return equal[place] if place < len(equal) else _crisol.device(name)
