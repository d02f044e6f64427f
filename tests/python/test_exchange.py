"""DLPack and the buffer protocol."""

import ctypes
import gc
import weakref

import crisol
import numpy as np
import pytest


def test_numpy_reads(dtype):
    x = crisol.asarray([[1, 0, 1], [0, 1, 0]], dtype=dtype)
    for source in (x, x.T, x[:, 1:], crisol.zeros((0, 2), dtype=dtype)):
        array = np.from_dlpack(source, device="cpu")  # NumPy cannot read a GPU's memory.
        assert array.dtype == np.dtype(dtype.name) and array.shape == source.shape
        np.testing.assert_array_equal(array, np.asarray(source))


def test_reads_numpy(dtype):
    array = np.array([[1, 0, 1], [0, 1, 0]]).astype(dtype.name)
    for source in (array, array.T, array[:, ::2], array[:0]):
        x = crisol.from_dlpack(source)
        assert x.dtype is dtype
        np.testing.assert_array_equal(np.asarray(x), source)


def numbers_of(dtype):
    """Some elements of a dtype, with the ends of its range."""
    if dtype.name == "bool":
        return np.array([True, False, True])
    kind = np.dtype(dtype.name)
    limits = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    return np.array([limits.min, 0, 1, limits.max, 3], kind)


def test_files_keep_elements(dtype, tmp_path):
    array = numbers_of(dtype)
    np.save(tmp_path / "x.npy", array)
    x = crisol.load_npy(tmp_path / "x.npy")
    crisol.save({"x": x}, tmp_path / "x.safetensors")
    for found in (x, crisol.load(tmp_path / "x.safetensors")["x"]):
        assert found.dtype is dtype
        np.testing.assert_array_equal(found.numpy(), array)


def test_bfloat16_keeps_its_bits(tmp_path):
    x = crisol.tensor([1.0, -3.140625, float("inf"), 1e-40, 3.3e38]).to(crisol.bfloat16)
    crisol.save({"x": x}, tmp_path / "x.safetensors")
    for found in (crisol.load(tmp_path / "x.safetensors")["x"], crisol.from_dlpack(x)):
        assert found.dtype is crisol.bfloat16 and found.tolist() == x.tolist()


def test_a_recorded_tensor_is_refused():
    x = crisol.ones(3, requires_grad=True)
    with pytest.raises(BufferError, match=r"\[dlpack\] the tensor requires grad: use x.detach\(\)"):
        np.from_dlpack(x)
    assert np.from_dlpack(x.detach(), device="cpu").tolist() == [1, 1, 1]


def test_a_copy_is_a_copy():
    x = crisol.zeros((3,))
    array = np.from_dlpack(x, device="cpu", copy=True)
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


needs_memory_of_host = pytest.mark.skipif(
    crisol.device().type != "cpu", reason="the device has a memory of its own"
)


def array_of(count, ahead=0, dtype=np.float32):
    """An array that begins `ahead` elements after a multiple of 4096 bytes."""
    size = np.dtype(dtype).itemsize
    memory = np.zeros(4096 + (ahead + count) * size, np.uint8)
    first = -memory.ctypes.data % 4096 + ahead * size
    return memory[first : first + count * size].view(dtype)


@needs_memory_of_host
@pytest.mark.parametrize("ahead", [0, 1, 5, 33])
def test_memory_of_the_host_is_shared(dtype, ahead):
    array = array_of(6, ahead, dtype.name).reshape(2, 3)
    array[...] = 1
    x = crisol.from_dlpack(array, copy=False)
    assert x.shape == (2, 3) and x.dtype is dtype and x.tolist() == array.tolist()
    x[0, 1] = 0
    x.device.synchronize()
    assert array.tolist() == [[1, 0, 1], [1, 1, 1]]
    array[1, 2] = 0
    assert x.tolist() == [[1, 0, 1], [1, 1, 0]]
    assert crisol.from_dlpack(array).tolist() == crisol.from_dlpack(array, copy=True).tolist() == x.tolist()


@needs_memory_of_host
def test_neighbours_of_shared_memory_stay():
    array = array_of(300, 7)
    array[...] = np.arange(300)
    expected = array * 2
    expected[:100], expected[200:] = array[:100], array[200:]
    x = crisol.from_dlpack(array[100:200], copy=False)
    x *= 2
    x.device.synchronize()
    assert np.array_equal(array, expected)


def are_freed(references):
    """Whether the objects go, at last when the driver has given their buffers back."""
    for _ in range(1000):
        gc.collect()
        (crisol.ones(8)[2:] * 2).tolist()  # A driver may keep what a kernel used until it has other arguments.
        if all(reference() is None for reference in references):
            return True
    return False


class Owner(np.ndarray):
    """An array that a weak reference can name."""


@pytest.mark.parametrize("copy", [None, True])
def test_an_array_lives_as_long_as_its_tensor(copy):
    arrays = [array_of(8).view(Owner) for _ in range(100)]  # More than Python's queue of calls holds.
    references = [weakref.ref(array) for array in arrays]
    tensors = [crisol.from_dlpack(array, copy=copy) for array in arrays]
    results = [x[2:] * 2 for x in tensors]
    del arrays
    gc.collect()
    shared = copy is None and crisol.device().type == "cpu"
    assert all((reference() is not None) == shared for reference in references)
    del tensors
    assert are_freed(references)
    assert all(y.tolist() == [0] * 6 for y in results)


def test_copy():
    array = array_of(6).reshape(2, 3)
    x = crisol.from_dlpack(array, copy=True)
    array[...] = 1
    assert x.tolist() == [[0] * 3] * 2
    read_only = array_of(4)
    read_only.flags.writeable = False
    unaligned = np.zeros(9, np.uint8)[1:].view(np.float32)
    for source in (array.T, array[:, ::2], read_only, unaligned, array[:0], np.zeros(2, np.complex64)):
        with pytest.raises(BufferError):
            crisol.from_dlpack(source, copy=False)
    for source in (array.T, array[:, ::2], read_only, unaligned, array[:0]):
        y = crisol.from_dlpack(source)
        before = source.tolist()
        y += 1
        y.device.synchronize()
        assert source.tolist() == before


@needs_memory_of_host
def test_asarray_without_a_copy():
    array = array_of(3)
    x = crisol.asarray(array, copy=False)
    x += 1
    x.device.synchronize()
    assert array.tolist() == [1, 1, 1] and crisol.asarray(array, dtype=crisol.float32, copy=False).shape == (3,)
    assert not crisol.asarray(array).shares_storage_with(x)
    with pytest.raises(ValueError, match="dtype"):
        crisol.asarray(array, dtype=crisol.int32, copy=False)
    for source in (array[::2], [1.0, 2.0], 3.0, b"bytes"):
        with pytest.raises(ValueError, match="copy=False"):
            crisol.asarray(source, copy=False)


class AsOpenCL:
    """A tensor as another library's array in OpenCL memory."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return (4, self.x.device.index)

    def __dlpack__(self, **arguments):
        return self.x.__dlpack__(**{**arguments, "dl_device": self.__dlpack_device__()})


def test_opencl_memory():
    x = crisol.asarray([1.0, 2.0, 3.0])
    y = crisol.from_dlpack(AsOpenCL(x))
    assert y.tolist() == x.tolist()
    y += 1
    assert x.tolist() == [2, 3, 4]
    z = crisol.from_dlpack(AsOpenCL(x), copy=True)
    z += 1
    assert x.tolist() == [2, 3, 4] and z.tolist() == [3, 4, 5]
    assert crisol.from_dlpack(AsOpenCL(y)).tolist() == [2, 3, 4]  # A part of a part, so it is copied.
    with pytest.raises(BufferError, match="a part of another"):
        crisol.from_dlpack(AsOpenCL(y), copy=False)


def test_opencl_memory_is_kept():
    x = crisol.full((1000,), 3.0)
    y = crisol.from_dlpack(AsOpenCL(x))
    del x
    others = [crisol.full((1000,), float(i)) for i in range(20)]  # They would get the memory of x from the pool.
    assert y.sum().item() == 3000 and len(others) == 20


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
        crisol.from_dlpack(np.zeros(2, np.complex64))
    with pytest.raises(BufferError):
        crisol.ones((2,)).__dlpack__(dl_device=(2, 0))


def test_buffer(dtype):
    x = crisol.asarray([[1, 0, 1], [0, 1, 0]], dtype=dtype)
    view = memoryview(x.T)
    assert view.shape == (3, 2) and view.readonly and view.itemsize == dtype.itemsize
    assert view.tobytes() == x.T.tobytes() == bytes(x.T)
    with pytest.raises(TypeError):
        view[0, 0] = 1


class View(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("rest", ctypes.c_char * 64)]


def test_the_owner_of_a_buffer_keeps_it():
    # PyTorch releases a view at once, and keeps only the object that it names.
    x = crisol.arange(4000, dtype=crisol.float32)
    view = View()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(x), ctypes.byref(view), 0)
    owner, place = view.obj, view.buf
    assert owner is not x
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
    expected = x.tobytes()
    del x
    gc.collect()
    memory = np.frombuffer(owner, np.uint8)
    first = place - memory.ctypes.data
    assert 0 <= first <= memory.size - len(expected)
    assert memory[first : first + len(expected)].tobytes() == expected


def test_each_buffer_is_a_copy_of_its_own():
    x = crisol.zeros(3)
    before = memoryview(x)
    x += 1
    assert before.tolist() == [0, 0, 0] and memoryview(x).tolist() == [1, 1, 1]
    assert memoryview(crisol.asarray(2.5)).tolist() == 2.5
    assert memoryview(crisol.zeros((2, 0))).shape == (2, 0)
