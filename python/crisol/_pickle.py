"""Functions by which pickles name what to call. The functions of the extension cannot be pickled."""

from . import _crisol


def rebuild_tensor(data, shape, dtype, requires_grad):
    """The tensor of a pickle, on the default device."""
    return _crisol._rebuild(data, shape, dtype, requires_grad)
