"""Members of Tensor that are written in Python."""

from ._crisol import Tensor


class ElementCount(int):
    """The number of elements of a tensor. A call gives its sizes, as in PyTorch: x.size(), x.size(0)."""

    _shape: tuple[int, ...]

    def __call__(self, dim: int | None = None) -> tuple[int, ...] | int:
        """The shape, or the size of one axis."""
        if dim is None:
            return self._shape
        if not -len(self._shape) <= dim < len(self._shape):
            raise IndexError(f"[size] there is no axis {dim} in a tensor of shape {self._shape}")
        return self._shape[dim]

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)


def _size(self) -> ElementCount:
    """The number of elements. x.size() is the shape, and x.size(0) the size of an axis."""
    count = ElementCount(self.numel())
    count._shape = self.shape
    return count


Tensor.size = property(_size)
