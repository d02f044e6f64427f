"""The class Tensor: properties, conversions and places."""

import copy
import operator
import pickle
import weakref

import crisol
import numpy as np
import pytest
from numeric import array_of, of, same


def test_properties():
    x = crisol.zeros((3, 1, 5))
    assert x.shape == (3, 1, 5) and x.strides == (5, 5, 1)
    assert (x.ndim, x.size, x.itemsize, x.nbytes) == (3, 15, 4, 60)
    assert x.dtype is crisol.float32 and x.device == crisol.device()
    assert x.T.shape == (5, 1, 3) and x.mT.shape == (3, 5, 1)
    assert x.T.shares_storage_with(x)


@pytest.mark.parametrize("function", [crisol.empty, crisol.zeros, crisol.ones, crisol.rand, crisol.randn])
def test_sizes_as_separate_arguments(function):
    device = crisol.device()
    for shape in ((2, 3), (0, 4), (2, 1, 3), (1,) * 8):
        assert function(*shape).shape == function(shape).shape == function(*shape, device=device).shape == shape
    assert function(2).shape == function(shape=2).shape == (2,) and function(()).shape == ()
    for wrong in ((), (2.5, 3), ((2,), 3), (2, None)):
        with pytest.raises(TypeError):
            function(*wrong)
    for wrong in ((2, -1), (1,) * 26):
        with pytest.raises(ValueError):
            function(*wrong)


def test_values_with_sizes_as_separate_arguments():
    x = crisol.ones(2, 3, dtype=crisol.int32)
    assert x.dtype is crisol.int32 and x.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert not array_of(crisol.zeros(3, 2)).any()
    for function in (crisol.rand, crisol.randn):
        first, second = function(4, 5, generator=crisol.Generator(7)), function((4, 5), generator=crisol.Generator(7))
        assert first.tolist() == second.tolist()


def test_numbers():
    assert float(of(2.5)) == 2.5 and int(of(2.5)) == 2 and complex(of(2.5)) == 2.5
    assert bool(of([1])) and not bool(of([[0]]))
    assert list(range(5))[crisol.asarray(3)] == 3
    assert isinstance(crisol.asarray(3).item(), int) and crisol.asarray(True).item() is True
    assert f"{of(1.5):.3f}" == "1.500"
    with pytest.raises(ValueError, match=r"shape \(2\)"):
        of([1, 2]).item()
    with pytest.raises(TypeError):
        operator.index(of(1))


def test_lists(dtype):
    values = [[1, 0, 1], [0, 1, 1]]
    x = crisol.asarray(values, dtype=dtype)
    assert x.dtype is dtype and x.tolist() == values
    assert x.T.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert crisol.asarray([], dtype=dtype).tolist() == []


def test_defaults_of_asarray():
    assert crisol.asarray(True).dtype is crisol.bool
    assert crisol.asarray([1, True]).dtype is crisol.int64
    assert crisol.asarray([1, 2.0]).dtype is crisol.float32
    assert crisol.asarray([crisol.asarray(1), 2]).tolist() == [1, 2]
    assert crisol.asarray(np.float64(1)).dtype is crisol.float64
    assert crisol.asarray(np.zeros((2, 3), np.int16)).dtype is crisol.int16
    assert crisol.asarray(np.zeros(2, np.uint64)).dtype is crisol.uint64
    assert crisol.asarray(np.ones(2, np.uint64), dtype=crisol.int64).tolist() == [1, 1]


@pytest.mark.parametrize("values", [[[1, 2], [3]], [[1], 2], [1, [2]]])
def test_ragged_lists(values):
    with pytest.raises(ValueError):
        crisol.asarray(values)


def test_numbers_that_do_not_fit():
    with pytest.raises(OverflowError, match="256 does not fit in uint8"):
        crisol.asarray([256], dtype=crisol.uint8)
    with pytest.raises(OverflowError):
        crisol.asarray(2**63)
    with pytest.raises(TypeError):
        crisol.asarray(["1"])


def test_numpy(dtype):
    array = np.array([[1, 0, 1], [0, 1, 0]]).astype(dtype.name)
    for source in (array, array.T, array[:, ::-1], array[0, 0]):
        x = crisol.asarray(source)
        assert x.dtype is dtype and x.shape == source.shape
        for back in (x.numpy(), array_of(x), np.array(x), x.__array__()):
            assert back.dtype == array.dtype
            np.testing.assert_array_equal(back, source)
    x = crisol.asarray(array)
    x.numpy()[0, 0] = 0  # A copy.
    assert x[0, 0].item() == 1
    assert not array_of(memoryview(x)).flags.writeable


def test_repr(dtype):
    text = repr(crisol.asarray([0, 1], dtype=dtype))
    shown = dtype in (crisol.float32, crisol.int64, crisol.bool)  # As in PyTorch.
    assert text.startswith("tensor([") and text.endswith("])" if shown else f"dtype={dtype!r})")
    assert eval(text, {"tensor": crisol.tensor, "crisol": crisol, "True": True, "False": False}).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"precision": 2}, "[   1.12, 1000.50,    3.00]"),
        ({"sci_mode": False}, "[   1.1235, 1000.5000,    3.0000]"),
        ({"sci_mode": True, "precision": 1}, "[1.1e+00, 1.0e+03, 3.0e+00]"),
        ({"threshold": 2, "edgeitems": 1}, "[1.1235,  ..., 3.0000]"),
        ({"linewidth": 20, "sci_mode": False}, "[   1.1235,\n        1000.5000,\n           3.0000]"),
        ({"profile": "full", "precision": 0, "sci_mode": False}, "[   1, 1000,    3]"),
    ],
)
def test_print_options(options, expected):
    crisol.set_printoptions(**options)
    text = repr(crisol.tensor([1.123456, 1000.5, 3]))
    crisol.set_printoptions(profile="default")
    assert text == f"tensor({expected})"
    with pytest.raises(ValueError, match=r"\[set_printoptions\] 'long' is not default, short or full"):
        crisol.set_printoptions(profile="long")


def test_repr_beside_the_values():
    leaf = of([1]).requires_grad_()
    assert repr(leaf) == "tensor([1.], requires_grad=True)"
    assert repr(crisol.zeros((0, 3))) == "tensor([], size=(0, 3))"
    assert repr(crisol.zeros(0)) == "tensor([])"
    assert repr(crisol.zeros((0, 2), dtype=crisol.int64)) == "tensor([], size=(0, 2), dtype=crisol.int64)"


def test_pickle(dtype):
    x = crisol.asarray([[1, 0], [1, 1], [0, 1]], dtype=dtype)
    y = pickle.loads(pickle.dumps(x.T))
    assert y.dtype is dtype and y.tolist() == x.T.tolist()
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert pickle.loads(pickle.dumps(x.device)) == x.device


def test_copies():
    x = of([1, 2]).requires_grad_()
    y = copy.deepcopy(x)
    assert y.requires_grad and y.is_leaf and not y.shares_storage_with(x)
    assert pickle.loads(pickle.dumps(x)).requires_grad
    assert copy.copy(x).shares_storage_with(x)


def test_gradients():
    x = of([1, 2, 3])
    x.requires_grad = True
    assert x.grad is None
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4, 6]


def test_as_a_key():
    x, y = of([1]), of([1])
    assert {x: 1}[x] == 1 and len({x, y}) == 2
    assert weakref.ref(x)() is x


def test_moves():
    x = of([1.5, -2.5])
    assert x.to(crisol.int32).tolist() == [1, -2]
    assert x.to(x.device).shares_storage_with(x) and not x.to(x.device, copy=True).shares_storage_with(x)
    assert x.to_device(x.device).tolist() == x.tolist()
    assert x.to(dtype=crisol.float16, device=x.device).dtype is crisol.float16
    assert x.long().dtype is crisol.int64 and x.half().dtype is crisol.float16


def test_pointwise_functions_and_methods():
    x = of([-1.0, 0.0, 2.0])
    assert crisol.relu(x).tolist() == x.relu().tolist() == [0, 0, 2]
    assert crisol.leaky_relu(x, slope=0.5).tolist() == x.leaky_relu(0.5).tolist() == [-0.5, 0, 2]
    assert crisol.clamp(x, -0.5, 0.5).tolist() == [-0.5, 0, 0.5]
    assert crisol.lerp(x, of([1, 1, 1]), 0.5).tolist() == [0, 0.5, 1.5]
    assert "max(x, 0)" in crisol.relu.__doc__


def test_reductions():
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 7
    x = of(a)
    for name in ("sum", "mean", "max", "min", "prod", "std", "var"):
        function = getattr(crisol.array_api, name)
        same(function(x, axis=(0, 2)), getattr(np, name)(a, axis=(0, 2)))
        same(function(x, axis=1, keepdims=True), getattr(np, name)(a, axis=1, keepdims=True))
        same(function(x, axis=()), getattr(np, name)(a, axis=()))
    for name in ("sum", "mean", "prod", "amax", "amin"):
        same(getattr(x, name)(dim=(0, 2), keepdim=True), getattr(np, name)(a, axis=(0, 2), keepdims=True))
    for name in ("sum", "mean", "prod", "amax", "amin", "std", "var", "count_nonzero", "norm"):
        function = getattr(crisol, name)
        for none in ([], ()):  # As in PyTorch, all axes.
            assert function(x, dim=none).item() == function(x).item()
    assert x.sum([], keepdim=True).shape == (1, 1, 1)
    assert crisol.all(x, dim=()).shape == x.any([]).shape == x.shape
    assert x.argmax().item() == 23 and crisol.argmin(x, axis=1).shape == (2, 4)
    assert crisol.count_nonzero(x).item() == 23
    assert crisol.sum(crisol.ones((3,), dtype=crisol.uint8)).dtype is crisol.int64
    assert crisol.sum(crisol.ones((3,), dtype=crisol.uint8), dtype=crisol.float32).dtype is crisol.float32
    with pytest.raises(TypeError, match="axis and dim"):
        x.sum(axis=0, dim=0)


def test_conversion_to_half_numbers():
    assert crisol.asarray(np.float16(1.5)).dtype is crisol.float16
    assert crisol.asarray([1.5], dtype=crisol.float16).numpy().dtype == np.float16


def test_bfloat16():
    x = crisol.asarray([1.0, 1 + 3 / 256, -2.5], dtype=crisol.bfloat16)
    assert x.dtype is crisol.bfloat16 and x.tolist() == [1, 1.015625, -2.5]
    assert x.float().dtype is crisol.float32 and crisol.ones(2).bfloat16().dtype is crisol.bfloat16
    assert (x + x.half()).dtype is crisol.float32 and (x * 2).dtype is (x + crisol.ones(3, dtype="int32")).dtype is x.dtype
    assert crisol.finfo(x).eps == 2.0**-7 and crisol.finfo(x).tiny == 2.0**-126 and crisol.finfo(x).resolution == 0.01
    assert x.type() == "crisol.BFloat16Tensor" and crisol.promote_types(crisol.bfloat16, crisol.int64) is x.dtype
    assert crisol.nan_to_num(x / 0).tolist() == [crisol.finfo(x).max] * 2 + [-crisol.finfo(x).max]
    assert crisol.nn.Linear(2, 3).bfloat16().weight.dtype is x.dtype
    assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist() and "bfloat16" in repr(x)
    shared = crisol.from_dlpack(x)
    assert shared.dtype is x.dtype and shared.tolist() == x.tolist()
    with pytest.raises(TypeError, match=r"NumPy has no bfloat16; convert with .float\(\)"):
        x.numpy()
    with pytest.raises(BufferError, match=r"bfloat16; convert with .float\(\)"):
        memoryview(x)
    with crisol.autocast("cpu"):
        assert crisol.nn.functional.linear(crisol.ones(1, 2), crisol.ones(3, 2)).dtype is crisol.bfloat16


@pytest.mark.parametrize("name", ["int8", "int16", "uint16", "uint32", "uint64"])
def test_other_whole_numbers(name):
    dtype, limits = getattr(crisol, name), np.iinfo(name)
    array = np.array([0, 1, limits.max, limits.min], name)
    x = crisol.asarray(array)
    assert x.dtype is dtype and x.tolist() == array.tolist() and x.numpy().dtype == array.dtype
    found = crisol.iinfo(x)
    assert (found.min, found.max, found.bits) == (limits.min, limits.max, limits.bits)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal((x + 1).numpy(), array + array.dtype.type(1))
        np.testing.assert_array_equal((x * x).numpy(), array * array)
    for other in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        assert (x + crisol.ones(4, dtype=other)).numpy().dtype == np.promote_types(name, other)
    total = crisol.uint64 if name == "uint64" else crisol.int64
    assert x.sum().dtype is x.cumsum(0).dtype is total and int(x[2:].sum()) == int(limits.max) + int(limits.min)
    assert x.max().item() == limits.max and x.sort().values[0].item() == limits.min
    assert np.from_dlpack(x, device="cpu").dtype == array.dtype and crisol.from_dlpack(array).dtype is dtype
    assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist() and memoryview(x).tolist() == x.tolist()
    with pytest.raises(OverflowError, match=f"does not fit in {'64 bits' if name == 'uint64' else name}"):
        crisol.asarray([int(limits.max) + 1], dtype=dtype)


def test_uint64():
    top = 2**63 + 5
    x = crisol.asarray([1, top], dtype=crisol.uint64)
    assert x.tolist() == [1, top] and x[1].item() == int(x[1]) == top and x.max().item() == top
    assert (x == top).tolist() == [False, True] and (x + top).tolist() == [top + 1, 2 * top % 2**64]
    assert crisol.full((2,), top, dtype=crisol.uint64).tolist() == [top] * 2
    assert repr(x) == "tensor([                  1, 9223372036854775813], dtype=crisol.uint64)"
    assert x.type() == "crisol.UInt64Tensor" and x.dtype.itemsize == 8 and not x.dtype.is_signed
    assert crisol.iinfo(crisol.uint64).max == 2**64 - 1 and crisol.can_cast(crisol.uint32, crisol.uint64)
    assert crisol.from_numpy(x.numpy()).tolist() == x.tolist() and crisol.arange(3, dtype=x.dtype).tolist() == [0, 1, 2]
    with pytest.raises(OverflowError, match="-1 does not fit in uint64"):
        crisol.asarray([-1], dtype=crisol.uint64)
    with pytest.raises(OverflowError, match=f"{top} does not fit in int64"):
        crisol.asarray([top])
    with pytest.raises(OverflowError, match="64 bits"):
        crisol.asarray([2**64])
    with pytest.raises(crisol.InvalidArgumentError, match="does not fit uint64"):
        x * -1
    assert (x > -1).tolist() == [True, True]
    with pytest.raises(TypeError):
        crisol.zeros(2**63)


def test_float64():
    third = 1 / 3
    x = crisol.asarray(np.array([third, 1e300]))
    assert x.dtype is crisol.float64 and x.numpy().dtype == np.float64 and x.tolist() == [third, 1e300]
    assert crisol.asarray(third).dtype is crisol.asarray([third]).dtype is crisol.float32
    assert crisol.zeros(2, dtype="double").dtype is crisol.double is crisol.float64
    assert crisol.full(2, third, dtype=crisol.float64).tolist() == [third] * 2
    assert crisol.asarray([third]).double().dtype is crisol.float64
    assert (x + crisol.ones(2)).dtype is (x[0] + crisol.ones(2)).dtype is (x * 2.5).dtype is crisol.float64
    assert (x / 3).tolist() == [third / 3, 1e300 / 3] and x.sum().item() == 1e300
    assert crisol.finfo(x).eps == np.finfo(np.float64).eps and crisol.finfo(x).max == np.finfo(np.float64).max
    assert "float64" in crisol.array_api.__array_namespace_info__().dtypes()
    assert pickle.loads(pickle.dumps(crisol.float64)) is crisol.float64


def test_shapes():
    x = crisol.arange(6)
    assert x.reshape(2, -1).shape == x.reshape((2, 3)).shape == x.view(2, 3).shape == (2, 3)
    assert x.view(3, 2).shares_storage_with(x)
    with pytest.raises(ValueError, match="view"):
        x.view(2, 3).T.view(6)
    assert x.view(2, 3).permute(1, 0).tolist() == x.view(2, 3).T.tolist()
    assert crisol.squeeze(x.view(1, 6, 1), axis=0).shape == (6, 1) and x.view(1, 6, 1).squeeze().shape == (6,)
    assert crisol.squeeze(x, dim=0).shape == x.squeeze(0).shape == (6,)  # The standard refuses another size than 1.
    with pytest.raises(ValueError):
        crisol.array_api.squeeze(x, axis=0)
    with pytest.raises(TypeError):
        x.reshape("2", 3)


def test_random_numbers():
    crisol.manual_seed(1)
    x = crisol.rand((1000,))
    crisol.manual_seed(1)
    assert (crisol.rand((1000,)) == x).all()
    generator = crisol.Generator(7)
    state = generator.get_state()
    y = crisol.empty((1000,)).normal_(2, 0.5, generator=generator)
    generator.set_state(state)
    assert (crisol.empty((1000,)).normal_(2, 0.5, generator=generator) == y).all()
    assert 1.9 < y.mean().item() < 2.1
    assert sorted(crisol.randperm(10).tolist()) == list(range(10))
    assert crisol.randint(0, 3, (100,), dtype=crisol.int32).dtype is crisol.int32


def test_joining_and_cutting():
    a, b = crisol.ones((2, 3)), crisol.zeros((1, 3), dtype=crisol.int64)
    assert crisol.concat([a, b]).shape == (3, 3) and crisol.concat([a, b]).dtype is crisol.float32
    assert crisol.concat([a, b], axis=None).shape == (9,)
    assert crisol.stack([a, a], axis=-1).shape == (2, 3, 2)
    assert [part.shape for part in crisol.split(a, 2, axis=1)] == [(2, 2), (2, 1)]
    assert [part.shape for part in crisol.split(a, [1, 2], axis=1)] == [(2, 1), (2, 2)]
    assert [part.shape for part in crisol.chunk(a, 2)] == [(1, 3), (1, 3)]
    assert crisol.moveaxis(crisol.ones((2, 3, 4)), 0, -1).shape == (3, 4, 2)
    assert crisol.broadcast_shapes((2, 1), (3,)) == (2, 3)


def test_as_strided():
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = crisol.tensor(host)
    for shape, strides, first in [((5, 3), (2, 1), 0), ((3,), (5,), 1), ((2, 2), (0, 3), 4)]:
        expected = np.lib.stride_tricks.as_strided(host.ravel()[first:], shape, [4 * s for s in strides])
        np.testing.assert_array_equal(array_of(crisol.as_strided(x, shape, strides, first)), expected)
    crisol.as_strided(x, [3], [5])[:] = -1  # A write goes to x.
    assert [x[i, i].item() for i in range(3)] == [-1, -1, -1]
    w = crisol.tensor(host, requires_grad=True)
    crisol.as_strided(w, (5, 3), (2, 1)).sum().backward()
    np.testing.assert_array_equal(array_of(w.grad).ravel(), [1, 1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 0])
    with pytest.raises(crisol.InvalidArgumentError, match="leave the memory"):
        crisol.as_strided(x, (4, 4), (3, 1))


@pytest.mark.parametrize("k", [0, 1, -2, 7, 2**70, -(2**70)])
def test_eye(k):
    expected = np.eye(3, 5, k=max(-9, min(9, k)))
    np.testing.assert_array_equal(array_of(crisol.eye(3, 5, k=k)), expected)


@pytest.mark.parametrize("function", [crisol.expand_dims, crisol.squeeze, crisol.flip])
def test_axes_that_do_not_exist(function):
    with pytest.raises(crisol.InvalidArgumentError):
        function(crisol.ones((1, 2)), axis=5)


def test_an_axis_out_of_range_is_an_index_error():
    with pytest.raises(IndexError, match="axis -4"):
        crisol.expand_dims(crisol.ones((1, 2)), axis=-4)


def test_arrays_of_recorded_tensors():
    """As in PyTorch, a program asks for an array outside the graph."""
    x = crisol.ones(2, requires_grad=True)
    for read in (lambda: x.numpy(), lambda: (x * 2).numpy(), lambda: np.asarray(x), lambda: np.array([x])):
        with pytest.raises(RuntimeError, match=r"requires grad: use x.detach\(\)"):
            read()
    assert x.numpy(force=True).tolist() == x.detach().numpy().tolist() == [1.0, 1.0]
    with crisol.no_grad():
        assert np.asarray(x).tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match=r"\[deepcopy\]"):
        copy.deepcopy(x * 2)


def test_errors_are_runtime_errors():
    for error in (crisol.InvalidArgumentError, crisol.OutOfRangeError, crisol.OutOfMemoryError, crisol.FileError):
        assert issubclass(error, RuntimeError) and issubclass(error, crisol.Error)
    with pytest.raises(RuntimeError):
        crisol.ones(2) + crisol.ones(3)
