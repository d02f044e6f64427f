"""crisol.nn.functional against NumPy, with gradients against finite differences."""

import crisol
import crisol.nn.functional as F
import numeric
import numpy as np
import pytest
from numeric import array_of, assert_close, check_gradients, tensor

RANDOM = np.random.default_rng(1)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("stride, padding", [(1, 0), (2, 1), (1, "same"), (1, "valid")])
def test_conv2d(stride, padding):
    x, weight, bias = normal(2, 3, 7, 5), normal(4, 3, 3, 3), normal(4)
    y = F.conv2d(tensor(x), tensor(weight), tensor(bias), stride=stride, padding=padding)
    number = {"same": 1, "valid": 0}.get(padding, padding)
    assert_close(y, numeric.conv2d(x, weight, bias, stride, number), atol=1e-4)


def test_conv2d_gradients():
    check_gradients(lambda x, w, b: F.conv2d(x, w, b, padding=(1, 0)), normal(1, 2, 4, 3), normal(2, 2, 3, 2), normal(2))


def test_conv_errors():
    x, weight = tensor(normal(1, 2, 4, 4)), tensor(normal(2, 2, 2, 2))
    with pytest.raises(ValueError, match="stride 1"):
        F.conv2d(x, weight, padding="same", stride=2)
    with pytest.raises(ValueError, match='"same" or "valid"'):
        F.conv2d(x, weight, padding="reflect")
    with pytest.raises(crisol.InvalidArgumentError, match="conv2d"):
        F.conv2d(x, tensor(normal(2, 3, 2, 2)))
    with pytest.raises(TypeError):
        F.conv2d(x, weight, stride=(1, 2, 3))


def test_conv3d_and_transposes():
    x = normal(2, 2, 3, 5, 4)
    weight = normal(3, 2, 1, 3, 3)
    y = F.conv3d(tensor(x), tensor(weight), padding=(0, 1, 1))
    planes = [numeric.conv2d(x[:, :, d], weight[:, :, 0], np.zeros(3), 1, 1) for d in range(3)]
    assert_close(y, np.stack(planes, axis=2), atol=1e-4)
    image, kernel = normal(1, 3, 4, 4), normal(3, 2, 3, 3)
    up = F.conv_transpose2d(tensor(image), tensor(kernel), stride=2, padding=1, output_padding=1)
    assert up.shape == (1, 2, 8, 8)
    # The transposed convolution is the gradient of the convolution.
    z = tensor(np.zeros((1, 2, 8, 8)), requires_grad=True)
    F.conv2d(z, tensor(kernel), stride=2, padding=1).backward(tensor(image))
    assert_close(up, z.grad, atol=1e-4)
    assert F.conv_transpose3d(tensor(x), tensor(normal(2, 3, 1, 2, 2)), stride=(1, 2, 2)).shape == (2, 3, 3, 10, 8)


def windows(x, size, stride):
    view = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
    return view[:, :, ::stride, ::stride]


def test_pools():
    x = normal(2, 3, 6, 8)
    assert_close(F.max_pool2d(tensor(x), 2), windows(x, 2, 2).max((-1, -2)))
    assert_close(F.max_pool2d(tensor(x), 3, stride=1), windows(x, 3, 1).max((-1, -2)))
    assert_close(F.avg_pool2d(tensor(x), 2), windows(x, 2, 2).mean((-1, -2)))
    assert_close(F.avg_pool2d(tensor(x), 2, divisor_override=1), windows(x, 2, 2).sum((-1, -2)), atol=1e-4)
    values, places = F.max_pool2d(tensor(x), 2, return_indices=True)
    flat = x.reshape(2, 3, -1)
    found = np.take_along_axis(flat, array_of(places).reshape(2, 3, -1), axis=2)
    assert_close(array_of(values).reshape(2, 3, -1), found)
    assert_close(F.adaptive_avg_pool2d(tensor(x), 1), x.mean((2, 3), keepdims=True))
    volume = normal(1, 2, 4, 4, 4)
    assert_close(F.adaptive_avg_pool3d(tensor(volume), (1, 1, 1)).reshape(1, 2), volume.mean((2, 3, 4)))
    assert F.max_pool3d(tensor(volume), (1, 2, 2)).shape == (1, 2, 4, 2, 2)
    assert F.avg_pool3d(tensor(volume), 3, 1, ceil_mode=True).shape == (1, 2, 2, 2, 2)


def test_norms():
    x, weight, bias = normal(4, 3, 5), normal(3), normal(3)
    mean, var = x.mean((0, 2)), x.var((0, 2))
    expected = (x - mean[:, None]) / np.sqrt(var[:, None] + 1e-5) * weight[:, None] + bias[:, None]
    running_mean, running_var = tensor(np.zeros(3)), tensor(np.ones(3))
    y = F.batch_norm(tensor(x), running_mean, running_var, tensor(weight), tensor(bias), training=True)
    assert_close(y, expected, atol=1e-4)
    assert_close(running_mean, 0.1 * mean)
    assert_close(running_var, 0.9 + 0.1 * x.var((0, 2), ddof=1))
    still = F.batch_norm(tensor(x), tensor(mean), tensor(var), tensor(weight), tensor(bias))
    assert_close(still, expected, atol=1e-4)
    rows = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    assert_close(F.layer_norm(tensor(x), (5,)), rows, atol=1e-4)
    assert_close(F.layer_norm(tensor(x), 5, bias=tensor(np.ones(5))), rows + 1, atol=1e-4)
    assert_close(F.normalize(tensor(x), dim=2), x / np.linalg.norm(x, axis=2, keepdims=True))
    check_gradients(lambda t: F.layer_norm(t, (3,)), normal(2, 3))


def test_losses():
    logits, labels = normal(5, 4), np.array([0, 3, 2, 1, 3])
    logp = numeric.log_softmax(logits)
    losses = -logp[np.arange(5), labels]
    target = crisol.asarray(labels)
    assert_close(F.cross_entropy(tensor(logits), target), losses.mean())
    assert_close(F.cross_entropy(tensor(logits), target, reduction="none"), losses)
    assert_close(F.cross_entropy(tensor(logits), target, reduction="sum"), losses.sum())
    assert_close(F.cross_entropy(tensor(logits), target, ignore_index=3), losses[[0, 2, 3]].mean())
    smooth = 0.8 * losses - 0.2 * logp.mean(-1)
    assert_close(F.cross_entropy(tensor(logits), target, label_smoothing=0.2), smooth.mean())
    assert_close(F.nll_loss(F.log_softmax(tensor(logits), dim=1), target), losses.mean())
    many = np.full((5000, 2), -0.5, np.float32)  # A group adds this many losses, on CPUs too.
    assert_close(F.nll_loss(tensor(many), crisol.zeros(5000, dtype=crisol.int64)), 0.5)
    x, y = normal(3, 2), normal(3, 2)
    assert_close(F.mse_loss(tensor(x), tensor(y)), ((x - y) ** 2).mean())
    with pytest.raises(ValueError, match="mse_loss.*average.*allowed are"):
        F.mse_loss(tensor(x), tensor(y), reduction="average")
    check_gradients(lambda t: F.cross_entropy(t, target), logits)
    check_gradients(lambda a, b: F.mse_loss(a, b, reduction="none"), x, y)


def test_activations():
    x = np.linspace(-4, 4, 33).astype(np.float32)
    negative = np.minimum(x, 0)
    sigmoid = 1 / (1 + np.exp(-x))
    expected = {
        F.relu: np.maximum(x, 0),
        F.relu6: np.clip(x, 0, 6),
        F.elu: np.where(x > 0, x, np.expm1(negative)),
        F.celu: np.where(x > 0, x, np.expm1(negative)),
        F.selu: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(negative)),
        F.silu: x * sigmoid,
        F.mish: x * np.tanh(np.log1p(np.exp(x))),
        F.hardsigmoid: np.clip(x / 6 + 0.5, 0, 1),
        F.hardswish: x * np.clip(x / 6 + 0.5, 0, 1),
        F.hardtanh: np.clip(x, -1, 1),
        F.logsigmoid: np.log(sigmoid),
        F.sigmoid: sigmoid,
        F.softplus: np.log1p(np.exp(x)),
        F.tanh: np.tanh(x),
    }
    for function, values in expected.items():
        np.testing.assert_allclose(array_of(function(tensor(x))), values, rtol=2e-5, atol=2e-6, err_msg=str(function))
    assert_close(F.leaky_relu(tensor(x), 0.2, inplace=True), np.where(x > 0, x, 0.2 * x))
    assert_close(F.prelu(tensor(x), tensor([0.3])), np.where(x > 0, x, 0.3 * x))
    assert_close(F.prelu(tensor([[-1, -1]]), tensor([0.3, 0.5])), [[-0.3, -0.5]])
    tanh_form = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    assert_close(F.gelu(tensor(x), approximate="tanh"), tanh_form)
    assert abs(array_of(F.gelu(tensor(x))) - tanh_form).max() < 1e-3
    with pytest.raises(ValueError, match="approximate"):
        F.gelu(tensor(x), approximate="erf")
    assert_close(F.softmax(tensor(x), dim=0), np.exp(numeric.log_softmax(x)))
    assert_close(F.log_softmax(tensor(x), -1), numeric.log_softmax(x))


def test_attention():
    q, k, v = normal(2, 4, 5, 8), normal(2, 2, 7, 8), normal(2, 2, 7, 3)
    mask = np.tril(np.ones((5, 7), bool))
    scores = np.where(mask, np.einsum("nhle,nhse->nhls", q, k.repeat(2, 1)) * 0.5, -np.inf)
    expected = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True) @ v.repeat(2, 1)
    seen = crisol.asarray(mask)
    masked = F.scaled_dot_product_attention(*map(tensor, (q, k, v)), seen, scale=0.5, enable_gqa=True)
    assert_close(masked, expected)
    causal = F.scaled_dot_product_attention(*map(tensor, (q, k, v)), is_causal=True, scale=0.5, enable_gqa=True)
    assert_close(causal, expected)


def test_linear_and_embedding():
    x, weight, bias = normal(2, 3, 4), normal(5, 4), normal(5)
    assert_close(F.linear(tensor(x), tensor(weight), tensor(bias)), x @ weight.T + bias)
    assert_close(F.linear(tensor(x), tensor(weight)), x @ weight.T)
    index = crisol.asarray([[0, 4], [2, 2]])
    assert_close(F.embedding(index, tensor(weight)), weight[array_of(index)])
    assert array_of(F.one_hot(index, 5)).tolist() == np.eye(5, dtype=int)[array_of(index)].tolist()
    table = tensor(weight, requires_grad=True)
    crisol.sum(F.embedding(index, table, padding_idx=2)).backward()
    assert_close(table.grad.sum(axis=1), [4, 0, 0, 0, 4])


def test_dropout():
    x = crisol.ones(10_000)
    crisol.manual_seed(5)
    y = array_of(F.dropout(x, 0.25))
    assert set(np.unique(y)) == {0, np.float32(4 / 3)} and abs((y == 0).mean() - 0.25) < 0.02
    crisol.manual_seed(5)
    assert (array_of(F.dropout(x, 0.25, inplace=True)) == y).all()
    assert (array_of(F.dropout(x, 0.25, training=False)) == 1).all()


def test_pad():
    x = normal(2, 3)
    assert_close(F.pad(tensor(x), (1, 2)), np.pad(x, [(0, 0), (1, 2)]))
    assert_close(F.pad(tensor(x), (0, 1, 2, 0), value=7), np.pad(x, [(2, 0), (0, 1)], constant_values=7))
    with pytest.raises(ValueError, match="two"):
        F.pad(tensor(x), (1, 2, 3))
    with pytest.raises(ValueError, match="constant"):
        F.pad(tensor(x), (1, 2), mode="mirror")
    with pytest.raises(ValueError, match="takes no value"):
        F.pad(tensor(x), (1, 2), mode="reflect", value=1)


def test_vision():
    x = normal(1, 2, 4, 4)
    assert_close(F.interpolate(tensor(x), scale_factor=2), x.repeat(2, 2).repeat(2, 3))
    corners = array_of(F.interpolate(tensor(x), size=(7, 7), mode="bilinear", align_corners=True))
    assert_close(corners[:, :, ::2, ::2], x)
    with pytest.raises(crisol.InvalidArgumentError, match="mode is one of"):
        F.interpolate(tensor(x), size=8, mode="sinc")
    identity = tensor([[[1, 0, 0], [0, 1, 0]]])
    grid = F.affine_grid(identity, (1, 2, 4, 4))
    assert_close(F.grid_sample(tensor(x), grid), x)
    assert F.pixel_shuffle(tensor(normal(1, 8, 2, 3)), 2).shape == (1, 2, 4, 6)
    assert_close(F.pixel_shuffle(F.pixel_unshuffle(tensor(x), 2), 2), x)
    weight = normal(3, 2, 3, 3)
    plain = F.conv2d(tensor(x), tensor(weight), padding=1)
    offset = crisol.zeros((1, 18, 4, 4))
    assert_close(F.deform_conv2d(tensor(x), offset, tensor(weight), padding=1), plain, atol=1e-4)
    boxes = tensor([[0, 0, 4, 4]])
    pooled = F.roi_align(tensor(x), boxes, crisol.asarray([0]), output_size=(1, 1), sampling_ratio=4, aligned=True)
    assert pooled.shape == (1, 2, 1, 1)
    rows = F.non_max_suppression(tensor([[[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]]), tensor([[[0.9, 0.8, 0.7]]]))
    assert array_of(rows).tolist() == [[0, 0, 0], [0, 0, 2]]


def test_sampling():
    generator = crisol.Generator(3)
    draws = array_of(crisol.multinomial(tensor([1, 0, 3]), 1000, True, generator=generator))
    assert set(draws) == {0, 2} and 0.7 < (draws == 2).mean() < 0.8
    assert array_of(crisol.sample_logits(tensor([[0, 5, 1], [9, 0, 0]]), temperature=0)).tolist() == [1, 0]


def test_hardtanh_keeps_the_type_of_whole_numbers():
    values = np.asarray([-5, 0, 7])
    for dtype in ("int32", "int64"):
        x = crisol.asarray(values.astype(dtype))
        assert F.hardtanh(x).dtype == x.dtype and F.hardtanh(x).tolist() == [-1, 0, 1]
        assert F.hardtanh(x, -2.7, 1.9).tolist() == [-2, 0, 1]
    x = crisol.asarray(np.asarray([0, 1, 9], np.uint8))
    assert F.hardtanh(x).dtype == crisol.uint8 and F.hardtanh(x, -1.5, 2.5).tolist() == [0, 1, 2]
    assert F.hardtanh(crisol.asarray([0.5, 2.0])).tolist() == [0.5, 1]
    with pytest.raises(crisol.InvalidArgumentError, match="hardtanh"):
        F.hardtanh(crisol.asarray([True]))


def test_wrong_indices_are_errors_of_the_next_read():
    table = crisol.nn.Embedding(5, 2)
    for index in (5, -1):
        rows = table(crisol.asarray([0, index]))
        with pytest.raises(crisol.InvalidArgumentError, match=rf"\[embedding\] index {index} is not in \[0, 5\)"):
            rows.tolist()
        assert np.isnan(rows[1, 0].item())
    x = crisol.ones((3,))
    with pytest.raises(crisol.InvalidArgumentError, match=r"index -4 is not in \[-3, 3\)"):
        x[crisol.asarray([1, -4])].tolist()
    with pytest.raises(crisol.InvalidArgumentError, match="one_hot"):
        F.one_hot(crisol.asarray([3]), 3).tolist()
