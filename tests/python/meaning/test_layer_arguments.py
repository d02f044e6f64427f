"""PyTorch's arguments of layers: device, dtype, bias of norms, padding_mode, return_indices, approximate, max_norm."""

import copy
import pickle

import crisol
import numpy as np
import pytest
from crisol import nn
from numeric import array_of, assert_close

RNG = np.random.default_rng(3)


def drawn(*shape):
    return RNG.normal(size=shape).astype(np.float32)


LAYERS = {
    "Linear": (2, 3),
    "Embedding": (5, 3),
    "Conv1d": (1, 2, 3),
    "Conv2d": (1, 2, 3),
    "Conv3d": (1, 2, 3),
    "ConvTranspose1d": (1, 2, 3),
    "ConvTranspose2d": (1, 2, 3),
    "ConvTranspose3d": (1, 2, 3),
    "BatchNorm1d": (4,),
    "BatchNorm2d": (4,),
    "BatchNorm3d": (4,),
    "InstanceNorm2d": (4,),
    "GroupNorm": (2, 4),
    "LayerNorm": ((4,),),
    "RMSNorm": (4,),
    "RNN": (2, 3),
    "LSTM": (2, 3),
    "GRU": (2, 3),
    "RNNCell": (2, 3),
    "LSTMCell": (2, 3),
    "GRUCell": (2, 3),
    "PReLU": (),
    "Bilinear": (2, 3, 4),
    "EmbeddingBag": (5, 3),
    "MultiheadAttention": (4, 2),
}


@pytest.mark.parametrize("name", LAYERS)
def test_device_and_dtype(name):
    cls = getattr(nn, name)
    device = crisol.device()
    layer = cls(*LAYERS[name], device=device, dtype=crisol.float32)
    assert all(p.device == device and p.dtype == crisol.float32 for p in layer.parameters())
    again = pickle.loads(pickle.dumps(layer))
    assert repr(again) == repr(layer) and [n for n, _ in again.named_parameters()] == [
        n for n, _ in layer.named_parameters()
    ]


@pytest.mark.parametrize("name", ["Linear", "Conv2d", "LayerNorm", "LSTM"])
def test_layers_are_made_in_a_dtype(name):
    layer = getattr(nn, name)(*LAYERS[name], dtype=crisol.float16)
    assert {p.dtype for p in layer.parameters()} == {crisol.float16}
    with pytest.raises(crisol.InvalidArgumentError, match="dtype of a module"):
        getattr(nn, name)(*LAYERS[name], dtype=crisol.int32)


@pytest.mark.parametrize(
    "made",
    [
        lambda bias: nn.LayerNorm(4, bias=bias),
        lambda bias: nn.LayerNorm((4,), 1e-5, True, bias),
        lambda bias: nn.GroupNorm(2, 4, bias=bias),
        lambda bias: nn.BatchNorm2d(4, bias=bias),
        lambda bias: nn.InstanceNorm2d(4, affine=True, bias=bias),
    ],
)
def test_norms_without_a_bias(made):
    layer, other = made(False), made(True)
    assert layer.bias is None and layer.weight is not None and other.bias is not None
    assert list(dict(layer.named_parameters())) == ["weight"]
    x = crisol.asarray(drawn(2, 4, 4, 4))
    with crisol.no_grad():
        layer.weight.mul_(2)
        other.weight.mul_(2)
    assert_close(layer(x), other(x))
    copied = copy.deepcopy(layer)
    assert copied.bias is None and repr(copied) == repr(layer) and "bias=False" in repr(layer)
    layer(x).sum().backward()
    assert layer.weight.grad is not None


MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_padding_mode(mode, axes):
    cls = getattr(nn, f"Conv{axes}d")
    x = drawn(2, 3, *range(5, 5 + axes))
    layer = cls(3, 2, 3, padding=1, padding_mode=mode)
    plain = cls(3, 2, 3)
    plain.load_state_dict(layer.state_dict())
    padded = np.pad(x, [(0, 0), (0, 0)] + [(1, 1)] * axes, mode=MODES[mode])
    wanted = plain(crisol.asarray(padded))
    assert_close(layer(crisol.asarray(x)), wanted)
    assert layer.padding == (1,) * axes and layer.padding_mode == mode and isinstance(layer, cls)
    assert f"padding={(1,) * axes}, padding_mode={mode}" in repr(layer)
    # A container of the library calls the layer, and fuses other convolutions with the activation.
    assert_close(nn.Sequential(layer, nn.ReLU())(crisol.asarray(x)), np.maximum(array_of(wanted.detach()), 0))
    for again in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert_close(again(crisol.asarray(x)), wanted)
        assert repr(again) == repr(layer)
    given = crisol.asarray(x).requires_grad_()
    layer(given).sum().backward()
    assert given.grad is not None and layer.weight.grad is not None


def test_padding_mode_of_a_derived_class():
    class Mine(nn.Conv2d):
        def __init__(self):
            super().__init__(1, 1, 3, padding="same", padding_mode="circular", bias=False)

    layer = Mine()
    x = drawn(1, 1, 4, 4)
    plain = nn.Conv2d(1, 1, 3, bias=False)
    plain.load_state_dict(layer.state_dict())
    wanted = plain(crisol.asarray(np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], mode="wrap")))
    assert_close(layer(crisol.asarray(x)), wanted)
    assert_close(nn.Sequential(layer)(crisol.asarray(x)), wanted)
    assert layer.padding == "same"


def test_padding_mode_errors():
    with pytest.raises(ValueError, match="zeros"):
        nn.ConvTranspose2d(1, 1, 2, padding_mode="reflect")
    with pytest.raises(crisol.InvalidArgumentError, match="mode is 'mirror'"):
        nn.Conv2d(1, 1, 3, padding=1, padding_mode="mirror")(crisol.ones((1, 1, 4, 4)))


def test_return_indices():
    x = crisol.asarray(drawn(1, 2, 6, 6))
    pool = nn.MaxPool2d(2, return_indices=True)
    y, places = pool(x)
    assert_close(y, nn.MaxPool2d(2)(x))
    assert_close(nn.MaxUnpool2d(2)(y, places).amax((2, 3)), x.amax((2, 3)))
    assert nn.MaxPool2d(2).return_indices is False and pool.return_indices is True
    assert nn.MaxPool2d(3, 2, 1, 1, False, True).ceil_mode is True
    assert copy.deepcopy(pool)(x)[1].tolist() == places.tolist()


def test_adaptive_pool_keeps_an_axis():
    x = crisol.asarray(drawn(1, 2, 6, 5))
    assert_close(nn.AdaptiveAvgPool2d((3, None))(x), nn.AdaptiveAvgPool2d((3, 5))(x))
    assert nn.AdaptiveAvgPool2d((None, 1)).output_size == (None, 1)


def test_gelu():
    x = crisol.asarray(drawn(7))
    wanted = 0.5 * array_of(x) * (1 + np.tanh(np.sqrt(2 / np.pi) * (array_of(x) + 0.044715 * array_of(x) ** 3)))
    layer = nn.GELU(approximate="tanh")
    assert_close(layer(x), wanted)
    assert_close(nn.Sequential(layer)(x), wanted)
    assert repr(layer) == "GELU(approximate='tanh')" and repr(nn.GELU()) == "GELU(approximate='none')"


def test_softmax_without_an_axis_warns():
    x = crisol.asarray(drawn(2, 3))
    with pytest.warns(UserWarning, match="axis"):
        y = nn.Softmax()(x)
    assert_close(y, crisol.softmax(x, 1))


def test_embedding():
    table = drawn(5, 3) * 4
    layer = nn.Embedding.from_pretrained(crisol.asarray(table))
    assert not layer.weight.requires_grad
    assert_close(layer(crisol.asarray([1, 4])), table[[1, 4]])
    layer = nn.Embedding(5, 3, max_norm=1.0, _weight=crisol.asarray(table))
    y = layer(crisol.asarray([[1, 2], [2, 1]]))
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    wanted = np.where(norms > 1, table / (norms + 1e-7), table)
    assert_close(y, wanted[[[1, 2], [2, 1]]])
    assert_close(layer.weight[0], table[0])  # Rows that are not read stay.


def test_gradients_of_rows_are_divided_by_the_number_of_their_places():
    table, weights = drawn(5, 3), drawn(2, 3, 3)
    indices = np.array([[1, 2, 1], [1, 0, 4]])
    wanted = np.zeros((5, 3))
    np.add.at(wanted, indices, weights)
    wanted[1] /= 3
    layer = nn.Embedding(5, 3, padding_idx=4, scale_grad_by_freq=True, _weight=crisol.asarray(table))
    (layer(crisol.asarray(indices)) * crisol.asarray(weights)).sum().backward()
    assert_close(layer.weight.grad[:4], wanted[:4])
    assert_close(layer.weight.grad[4], np.zeros(3))
    bag = nn.EmbeddingBag(5, 3, mode="sum", scale_grad_by_freq=True, _weight=crisol.asarray(table))
    (bag(crisol.asarray(indices)) * crisol.asarray(weights[:, 0])).sum().backward()
    wanted = np.zeros((5, 3))
    np.add.at(wanted, indices, np.broadcast_to(weights[:, :1], (2, 3, 3)))
    wanted[1] /= 3
    assert_close(bag.weight.grad, wanted)


def test_a_bag_limits_the_norm_that_it_is_given():
    table = drawn(5, 3) * 4
    bag = nn.EmbeddingBag(5, 3, max_norm=1.0, norm_type=1.0, mode="sum", _weight=crisol.asarray(table))
    wanted = table[1] / (np.abs(table[1]).sum() + 1e-7)
    assert_close(bag(crisol.asarray([[1]]))[0], wanted)


def test_epsilons_momenta_and_divisors_may_be_negative():
    x = drawn(3, 2, 4)
    centred = x - x.mean((0, 2), keepdims=True)
    assert_close(nn.functional.batch_norm(crisol.asarray(x), None, None, training=True, eps=-0.01),
                 centred / np.sqrt(x.var((0, 2), keepdims=True) - 0.01), atol=1e-4)  # fmt: skip
    mean, var = crisol.zeros(2), crisol.ones(2)
    nn.functional.batch_norm(crisol.asarray(x), mean, var, training=True, momentum=-1.5)
    assert_close(mean, -1.5 * x.mean((0, 2)), atol=1e-5)
    centred = x - x.mean(-1, keepdims=True)
    wanted = centred / np.sqrt(np.maximum(x.var(-1, keepdims=True) - 0.02, 0))
    assert_close(nn.functional.layer_norm(crisol.asarray(x), (4,), eps=-0.02), wanted, atol=1e-4)
    assert_close(nn.functional.group_norm(crisol.asarray(x), 2, eps=-0.02), wanted, atol=1e-4)
    assert np.isnan(array_of(nn.functional.layer_norm(crisol.asarray(x), (4,), eps=-50.0))).all()
    plane = drawn(1, 1, 4, 4)
    sums = plane.reshape(1, 1, 2, 2, 2, 2).sum((3, 5))
    assert_close(nn.functional.avg_pool2d(crisol.asarray(plane), 2, divisor_override=-2), sums / -2, atol=1e-5)
    volume = drawn(1, 1, 2, 2, 2)
    assert_close(nn.functional.avg_pool3d(crisol.asarray(volume), 1, divisor_override=-2), volume / -2, atol=1e-5)
