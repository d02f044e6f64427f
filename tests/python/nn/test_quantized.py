"""Weights in 8 and 4 bits: codes, products, the layer, its files, and what is refused."""

import copy
import pickle

import crisol
import crisol.nn.functional as F
import numpy as np
import pytest
from crisol import nn
from numeric import array_of

RANDOM = np.random.default_rng(3)
FORMATS = [(8, 0, True), (8, 32, False), (4, 16, True), (4, 32, False), (4, 0, True), (4, 64, False)]


def numbers(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def decoded(weight):
    """The elements of a weight, from its parts."""
    codes = array_of(weight.codes).astype(int).reshape(weight.rows, -1)
    if weight.bits == 4:
        groups = codes.reshape(weight.rows, -1, 16)
        codes = np.concatenate([groups & 15, groups >> 4], 2).reshape(weight.rows, -1)
    repeats = codes.shape[1] // weight.scales.shape[1]
    scales = np.repeat(array_of(weight.scales, np.float64), repeats, 1)
    middle = 128 if weight.bits == 8 else 8
    zeros = middle if weight.zero_points is None else np.repeat(array_of(weight.zero_points, np.float64), repeats, 1)
    return (scales * (codes - zeros))[:, : weight.columns]


@pytest.mark.parametrize("bits, block, symmetric", FORMATS)
def test_products(bits, block, symmetric):
    matrix, x, bias = numbers(5, 70), numbers(3, 70), numbers(5)
    weight = crisol.quantize(crisol.asarray(matrix), bits, block, symmetric)
    assert (weight.rows, weight.columns, weight.bits, weight.block) == (5, 70, bits, block)
    assert (weight.zero_points is None) == symmetric
    elements = decoded(weight)
    np.testing.assert_allclose(array_of(weight.dequantize()), elements, rtol=1e-6, atol=1e-6)
    assert np.abs(elements - matrix).max() <= (1.001 / 127 if bits == 8 else 1.001 / 7)
    given = crisol.asarray(x).requires_grad_()
    y = F.linear(given, weight, crisol.asarray(bias))
    np.testing.assert_allclose(array_of(y), x @ elements.T + bias, rtol=1e-4, atol=1e-4)
    y.sum().backward()
    np.testing.assert_allclose(array_of(given.grad), np.tile(elements.sum(0), (3, 1)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bias", [True, False])
def test_layer_of_a_linear(bias, tmp_path):
    plain = nn.Linear(40, 6, bias=bias)
    layer = crisol.quantize(plain, bits=4, block=32, symmetric=False)
    assert isinstance(layer, nn.QuantizedLinear)
    assert repr(layer) == (
        f"QuantizedLinear(in_features=40, out_features=6, bits=4, block=32, symmetric=False, bias={bias})"
    )
    assert (layer.in_features, layer.out_features, layer.bits, layer.block) == (40, 6, 4, 32)
    assert list(layer.state_dict()) == (["bias"] if bias else []) + ["codes", "scales", "zero_points"]
    x = crisol.asarray(numbers(2, 40))
    y = x @ layer.weight().dequantize().t()
    y = y + plain.bias if bias else y
    np.testing.assert_allclose(array_of(layer(x)), array_of(y), rtol=1e-4, atol=1e-5)
    path = tmp_path / "layer.safetensors"
    crisol.save(layer.state_dict(), path)
    other = nn.QuantizedLinear(40, 6, bits=4, block=32, symmetric=False, bias=bias)
    assert not array_of(other(x)).any()
    other.load_state_dict(crisol.load(path))
    for same in (other, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert same(x).tolist() == layer(x).tolist()
    loaded = pickle.loads(pickle.dumps(layer.weight()))
    assert repr(loaded) == repr(layer.weight()) and loaded.dequantize().tolist() == layer.weight().dequantize().tolist()


def test_input_of_float64():
    layer = crisol.quantize(nn.Linear(40, 6), bits=4, block=32).double()
    x = crisol.asarray(RANDOM.uniform(-1, 1, (3, 40))).requires_grad_()
    elements = array_of(layer.weight().dequantize(), np.float64)
    y = layer(x)
    assert y.dtype is crisol.float64
    wanted = array_of(x.detach()) @ elements.T + array_of(layer.bias.detach())
    np.testing.assert_allclose(array_of(y.detach()), wanted, rtol=1e-12)
    y.sum().backward()
    np.testing.assert_allclose(array_of(x.grad), np.tile(elements.sum(0), (3, 1)), rtol=1e-12)


def test_a_layer_of_a_network_is_replaced():
    net = nn.Sequential(nn.Linear(32, 4), nn.ReLU(), nn.Linear(4, 2))
    x = crisol.asarray(numbers(3, 32))
    y = array_of(net(x))
    net[0] = crisol.quantize(net[0])
    np.testing.assert_allclose(array_of(net(x)), y, atol=0.05)
    net(x).sum().backward()
    assert net[2].weight.grad is not None and net[0].bias.grad is not None
    assert [name for name, _ in net.named_parameters()] == ["0.bias", "2.weight", "2.bias"]


def test_blocks_of_llama_cpp():
    scales = np.array([0.5, -2.0], np.float16)
    codes = RANDOM.integers(-128, 128, (2, 32)).astype(np.int8)
    q8 = b"".join(scale.tobytes() + row.tobytes() for scale, row in zip(scales, codes))
    halves = RANDOM.integers(0, 16, (2, 32)).astype(np.uint8)
    q4 = b"".join(scale.tobytes() + (row[:16] | row[16:] << 4).tobytes() for scale, row in zip(scales, halves))
    for shape in ((1, 64), (2, 32)):
        for blocks in (q8, bytearray(q8), np.frombuffer(q8, np.uint8)):
            weight = crisol.QuantizedWeight.from_q8_0(blocks, shape)
            assert np.array_equal(array_of(weight.dequantize()), (scales[:, None] * codes.astype(float)).reshape(shape))
        weight = crisol.QuantizedWeight.from_q4_0(q4, shape)
        assert np.array_equal(array_of(weight.dequantize()), (scales[:, None] * (halves - 8.0)).reshape(shape))
    with pytest.raises(crisol.InvalidArgumentError, match="67 bytes"):
        crisol.QuantizedWeight.from_q8_0(q8[:67], (2, 32))
    with pytest.raises(TypeError):
        crisol.QuantizedWeight.from_q8_0("text", (2, 32))


def test_codes_in_the_order_of_columns():
    codes = RANDOM.integers(0, 16, (3, 40)).astype(np.uint8)
    scales, zeros = numbers(3, 2), RANDOM.integers(0, 16, (3, 2)).astype(np.uint8)
    weight = crisol.QuantizedWeight.from_codes(*map(crisol.asarray, (codes, scales, zeros)), bits=4, block=32)
    places = np.arange(40) // 32
    expected = scales[:, places] * (codes.astype(float) - zeros[:, places])
    np.testing.assert_allclose(array_of(weight.dequantize()), expected, rtol=1e-6)
    halves = crisol.QuantizedWeight.from_codes(crisol.asarray(codes), crisol.asarray(scales).half(), bits=4, block=32)
    assert halves.scales.tolist() == crisol.asarray(scales).half().float().tolist()


def test_what_is_refused():
    with pytest.raises(crisol.InvalidArgumentError, match="bits is 3"):
        crisol.quantize(crisol.ones(2, 2), bits=3)
    with pytest.raises(crisol.InvalidArgumentError, match="block is 33"):
        crisol.quantize(nn.Linear(2, 2), block=33)
    with pytest.raises(crisol.InvalidArgumentError, match="columns"):
        F.linear(crisol.ones(2, 3), crisol.quantize(crisol.ones(2, 2)))
    codes, scales = crisol.full((2, 4), 17, dtype=crisol.uint8), crisol.ones(2, 1)
    with pytest.raises(crisol.InvalidArgumentError, match="codes have 17, above the largest of 4 bits"):
        crisol.QuantizedWeight.from_codes(codes, scales, bits=4)
    with pytest.raises(crisol.InvalidArgumentError, match="zero points have 17"):
        crisol.QuantizedWeight.from_codes(codes % 16, scales, codes[:, :1], bits=4)
    with pytest.raises(crisol.InvalidArgumentError, match="codes must be uint8, they are int8"):
        crisol.QuantizedWeight.from_codes(codes.to(crisol.int8), scales)
    with pytest.raises(crisol.InvalidArgumentError, match="scales must be floating-point"):
        crisol.QuantizedWeight.from_codes(codes, codes[:, :1])
    with pytest.raises(crisol.InvalidArgumentError, match="bits is 3"):
        crisol.QuantizedWeight.from_codes(codes % 8, scales, bits=3)
    with pytest.raises(crisol.InvalidArgumentError, match="must be positive"):
        nn.QuantizedLinear(0, 2)
