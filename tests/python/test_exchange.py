"""DLPack and the buffer protocol."""

import crisol
import numpy as np
import pytest


def test_numpy_reads(dtype):
    x = crisol.asarray([[1, 0, 1], [0, 1, 0]], dtype=dtype)
    for source in (x, x.T, x[:, 1:], crisol.zeros((0, 2), dtype=dtype)):
        array = np.from_dlpack(source)
        assert array.dtype == np.dtype(dtype.name) and array.shape == source.shape
        np.testing.assert_array_equal(array, np.asarray(source))


def test_reads_numpy(dtype):
    array = np.array([[1, 0, 1], [0, 1, 0]]).astype(dtype.name)
    for source in (array, array.T, array[:, ::2], array[:0]):
        x = crisol.from_dlpack(source)
        assert x.dtype is dtype
        np.testing.assert_array_equal(np.asarray(x), source)


def test_a_copy_is_a_copy():
    x = crisol.zeros((3,))
    array = np.from_dlpack(x, copy=True)
    array[0] = 1
    assert x.tolist() == [0, 0, 0]


def test_without_a_copy():
    x = crisol.asarray([[1.0, 2.0], [3.0, 4.0]])
    if x.device.type != "cpu":
        with pytest.raises(BufferError):
            x.__dlpack__(dl_device=(1, 0), copy=False)
        return
    array = np.from_dlpack(x.T, copy=False)
    array[0, 1] = 7
    assert array.strides == (4, 8)
    del array
    assert x.tolist() == [[1, 2], [7, 4]]


def test_opencl_memory():
    x = crisol.asarray([1.0, 2.0, 3.0])

    class AsOpenCL:
        def __dlpack_device__(self):
            return (4, x.device.index)

        def __dlpack__(self, **arguments):
            return x.__dlpack__(**{**arguments, "dl_device": (4, x.device.index)})

    y = crisol.from_dlpack(AsOpenCL())
    assert y.tolist() == x.tolist()
    y += 1
    assert x.tolist() == [2, 3, 4]


def test_own_tensors():
    x = crisol.asarray([1.0, 2.0])
    assert crisol.from_dlpack(x).shares_storage_with(x)
    assert not crisol.from_dlpack(x, copy=True).shares_storage_with(x)
    assert crisol.from_dlpack(x, device=x.device, copy=False).shares_storage_with(x)


def test_unused_capsules_are_dropped():
    x = crisol.ones((4,))
    for version in (None, (1, 0)):
        capsule = x.__dlpack__(max_version=version)
        assert ("dltensor_versioned" in repr(capsule)) == (version is not None)
        del capsule
    assert x.tolist() == [1] * 4


def test_refusals():
    with pytest.raises(BufferError):
        crisol.from_dlpack(np.zeros(2))  # There is no float64.
    with pytest.raises(BufferError):
        crisol.from_dlpack(np.zeros(2, np.float32), copy=False)
    with pytest.raises(BufferError):
        crisol.ones((2,)).__dlpack__(dl_device=(2, 0))


def test_buffer(dtype):
    x = crisol.asarray([[1, 0, 1], [0, 1, 0]], dtype=dtype)
    view = memoryview(x.T)
    assert view.shape == (3, 2) and view.readonly and view.itemsize == dtype.itemsize
    assert view.tobytes() == x.T.tobytes() == bytes(x.T)
    with pytest.raises(TypeError):
        view[0, 0] = 1
