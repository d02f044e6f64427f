"""The layers of crisol.nn: constructor arguments, shapes, values against NumPy and crisol.nn.functional."""

import copy
import pickle

import crisol
import crisol.nn.functional as F
import numeric
import numpy as np
import pytest
from crisol import nn
from numeric import array_of, assert_close, tensor

RANDOM = np.random.default_rng(2)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_linear_and_conv():
    linear = nn.Linear(3, 4)
    x = normal(2, 3)
    assert_close(linear(tensor(x)), x @ array_of(linear.weight).T + array_of(linear.bias))
    bound = 1 / np.sqrt(3)
    assert abs(array_of(linear.weight)).max() <= bound
    conv = nn.Conv2d(2, 4, 3, stride=2, padding=1)
    image = normal(1, 2, 5, 6)
    expected = numeric.conv2d(image, array_of(conv.weight), array_of(conv.bias), 2, 1)
    assert_close(conv(tensor(image)), expected, atol=1e-4)
    assert nn.Conv2d(2, 4, (3, 1), padding="same", bias=False)(tensor(image)).shape == (1, 4, 5, 6)
    assert nn.Conv2d(4, 4, 3, groups=4).weight.shape == (4, 1, 3, 3)
    assert nn.Conv3d(1, 2, (1, 2, 3))(tensor(normal(1, 1, 4, 4, 4))).shape == (1, 2, 4, 3, 2)
    sequence = normal(1, 2, 7)
    conv = nn.Conv1d(2, 4, (3,), padding="same")
    assert conv.kernel_size == (3,) and conv.stride == (1,)
    row = np.pad(sequence, ((0, 0), (0, 0), (1, 1)))[:, :, None]
    expected = numeric.conv2d(row, array_of(conv.weight)[:, :, None], array_of(conv.bias), 1, 0)
    assert_close(conv(tensor(sequence)), expected[:, :, 0], atol=1e-4)
    assert nn.ConvTranspose1d(2, 3, 4, stride=2)(tensor(sequence)).shape == (1, 3, 16)
    up = nn.ConvTranspose2d(2, 3, 2, 2, 0, 1, 1, False, 1)
    assert up.bias is None and up(tensor(image)).shape == (1, 3, 11, 13)
    assert nn.ConvTranspose3d(1, 2, 2, stride=2)(tensor(normal(1, 1, 2, 2, 2))).shape == (1, 2, 4, 4, 4)
    up = nn.ConvTranspose2d(2, 3, 3, (2, 3), 1)
    for size, added in [((9, 18), (0, 2)), ((1, 3, 10, 16), (1, 0))]:
        expected = F.conv_transpose2d(tensor(image), up.weight, up.bias, up.stride, 1, added)
        assert_close(up(tensor(image), output_size=size), expected)
        assert expected.shape[2:] == size[-2:] and up(tensor(image), size).shape == expected.shape
    with pytest.raises(ValueError, match="ConvTranspose2d.* has 19 for axis 1, allowed are 16 to 18"):
        up(tensor(image), output_size=(9, 19))
    with pytest.raises(ValueError, match="must have 2 or 4 numbers"):
        up(tensor(image), output_size=(9,))


def test_pools_and_flatten():
    x = tensor(normal(2, 3, 6, 6))
    assert_close(nn.MaxPool2d(3, 2, 1)(x), F.max_pool2d(x, 3, 2, 1))
    assert_close(nn.MaxPool2d(2, ceil_mode=True)(x), F.max_pool2d(x, 2))
    assert_close(nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)(x),
                 F.avg_pool2d(x, 3, 1, 1, count_include_pad=False))
    assert_close(nn.AdaptiveAvgPool2d((1, 2))(x), F.adaptive_avg_pool2d(x, (1, 2)))
    volume = tensor(normal(1, 2, 4, 4, 4))
    assert nn.MaxPool3d(2)(volume).shape == nn.AvgPool3d(2)(volume).shape == (1, 2, 2, 2, 2)
    assert nn.AdaptiveAvgPool3d(1)(volume).shape == (1, 2, 1, 1, 1)
    assert nn.Flatten()(x).shape == (2, 108) and nn.Flatten(0, 1)(x).shape == (6, 6, 6)


ACTIVATIONS = [
    (nn.ReLU(), F.relu), (nn.Sigmoid(), F.sigmoid), (nn.Tanh(), F.tanh), (nn.SiLU(), F.silu), (nn.GELU(), F.gelu),
    (nn.Mish(), F.mish), (nn.SELU(), F.selu), (nn.LogSigmoid(), F.logsigmoid), (nn.ReLU6(True), F.relu6),
    (nn.Hardsigmoid(), F.hardsigmoid), (nn.Hardswish(inplace=True), F.hardswish), (nn.Softplus(2), lambda x: F.softplus(x, 2)),
    (nn.LeakyReLU(0.3), lambda x: F.leaky_relu(x, 0.3)), (nn.ELU(0.5), lambda x: F.elu(x, 0.5)),
    (nn.CELU(alpha=2.0), lambda x: F.celu(x, 2.0)), (nn.Softmax(dim=1), lambda x: F.softmax(x, 1)),
    (nn.LogSoftmax(-1), lambda x: F.log_softmax(x, 1)), (nn.Identity(), lambda x: x),
]  # fmt: skip


@pytest.mark.parametrize("layer, function", ACTIVATIONS, ids=lambda a: type(a).__name__)
def test_activations(layer, function):
    x = tensor(normal(3, 8) * 3)
    assert_close(layer(x), function(x))


def normalized(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def test_norms_of_instances():
    x = normal(2, 4, 3, 5)
    assert_close(nn.InstanceNorm2d(4)(tensor(x)), normalized(x, (2, 3)), atol=1e-4)
    assert_close(nn.InstanceNorm2d(4)(tensor(x[0])), normalized(x, (2, 3))[0], atol=1e-4)
    groups = nn.GroupNorm(2, 4)
    expected = normalized(x.reshape(2, 2, -1), (2,)).reshape(x.shape)
    assert_close(groups(tensor(x)), expected, atol=1e-4)
    assert groups.num_groups == 2 and groups.num_channels == 4
    weight, bias = normal(4), normal(4)
    scaled = expected * weight[:, None, None] + bias[:, None, None]
    assert_close(F.group_norm(tensor(x), 2, tensor(weight), tensor(bias)), scaled, atol=1e-4)
    mean, var = crisol.zeros(4), crisol.ones(4)
    F.instance_norm(tensor(x), mean, var, momentum=1.0)
    assert_close(mean, x.mean((0, 2, 3)), atol=1e-4)
    tracked = nn.InstanceNorm1d(3, affine=True, track_running_stats=True)
    assert list(tracked.state_dict()) == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert nn.InstanceNorm3d(2)(tensor(normal(1, 2, 2, 2, 2))).shape == (1, 2, 2, 2, 2)
    assert nn.BatchNorm1d(3)(tensor(normal(4, 3))).shape == (4, 3)
    with pytest.raises(ValueError, match="groups"):
        nn.GroupNorm(3, 4)


def test_norms():
    x = tensor(normal(4, 3, 2, 2))
    norm = nn.BatchNorm2d(3, momentum=0.5)
    first = norm(x)
    assert abs(array_of(first).mean((0, 2, 3))).max() < 1e-5
    assert norm.num_batches_tracked.item() == 1
    assert_close(norm.running_mean, 0.5 * array_of(x).mean((0, 2, 3)))
    assert list(norm.state_dict()) == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    norm.eval()
    assert_close(norm(x), F.batch_norm(x, norm.running_mean, norm.running_var), atol=1e-4)
    bare = nn.BatchNorm2d(3, affine=False, track_running_stats=False)
    assert bare.weight is None and not bare.state_dict()
    assert nn.BatchNorm3d(2)(tensor(normal(2, 2, 2, 2, 2))).shape == (2, 2, 2, 2, 2)
    layer = nn.LayerNorm((2, 2), elementwise_affine=False)
    assert_close(layer(x), F.layer_norm(x, (2, 2)))
    assert nn.LayerNorm(2).weight.shape == (2,)


def test_dropout():
    drop = nn.Dropout(0.5)
    x = crisol.ones(1000)
    assert 0.4 < (array_of(drop(x)) == 0).mean() < 0.6
    assert (array_of(drop.eval()(x)) == 1).all()
    with pytest.raises(crisol.InvalidArgumentError):
        nn.Dropout(2)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_step(cell, x, h, c):
    w = {k: array_of(v) for k, v in cell.items()}
    i, f, g, o = np.split(x @ w["weight_ih"].T + w["bias_ih"] + h @ w["weight_hh"].T + w["bias_hh"], 4, axis=1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def test_lstm():
    lstm = nn.LSTM(3, 4, batch_first=True)
    x = normal(2, 5, 3)
    cell = {name: getattr(lstm, name + "_l0") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
    h = c = np.zeros((2, 4))
    outputs = []
    for t in range(5):
        h, c = lstm_step(cell, x[:, t], h, c)
        outputs.append(h)
    output, (h_n, c_n) = lstm(tensor(x))
    assert_close(output, np.stack(outputs, 1))
    assert_close(h_n, h[None])
    assert_close(c_n, c[None])
    again, _ = lstm(tensor(x[:, 2:]), lstm(tensor(x[:, :2]))[1])
    assert_close(again, np.stack(outputs[2:], 1))
    short, (h_short, _) = lstm(tensor(x), lengths=[5, 3])
    assert_close(h_short[0, 1], outputs[2][1])
    assert not array_of(short)[1, 3:].any()
    single = nn.LSTMCell(3, 4)
    state = {name: getattr(single, name) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
    hx, cx = single(tensor(x[:, 0]), (tensor(h), tensor(c)))
    expected = lstm_step(state, x[:, 0], h, c)
    assert_close(hx, expected[0])
    assert_close(cx, expected[1])


def test_other_recurrent_layers():
    x = tensor(normal(5, 2, 3))
    y, h = nn.GRU(3, 4, num_layers=2, bidirectional=True)(x)
    assert y.shape == (5, 2, 8) and h.shape == (4, 2, 4)
    rnn = nn.RNN(3, 4, nonlinearity="relu", bias=False)
    y, h = rnn(x, crisol.zeros((1, 2, 4)))
    first = np.maximum(array_of(x)[0] @ array_of(rnn.weight_ih_l0).T, 0)
    assert_close(y[0], first)
    assert nn.LSTM(3, 4, proj_size=2)(x)[0].shape == (5, 2, 2)
    assert nn.GRUCell(3, 4)(x[0]).shape == nn.RNNCell(3, 4, nonlinearity="tanh")(x[0]).shape == (2, 4)
    with pytest.raises(ValueError, match="tanh"):
        nn.RNN(3, 4, nonlinearity="gelu")
    seen = []
    rnn.register_forward_hook(lambda module, args, output: seen.append(output[0].shape))
    assert isinstance(rnn(x), tuple) and seen == [(5, 2, 4)]


def test_losses():
    logits, labels = tensor(normal(4, 3)), crisol.asarray([0, 1, 2, 1])
    loss = nn.CrossEntropyLoss(label_smoothing=0.1, reduction="sum")
    assert_close(loss(logits, labels), F.cross_entropy(logits, labels, label_smoothing=0.1, reduction="sum"))
    assert_close(nn.NLLLoss()(F.log_softmax(logits, 1), labels), F.cross_entropy(logits, labels))
    assert_close(nn.MSELoss(reduction="none")(logits, 0 * logits), array_of(logits) ** 2)


def test_init():
    crisol.manual_seed(1)
    weight = nn.Linear(100, 50).weight
    numbers = array_of(nn.init.kaiming_uniform_(weight, nonlinearity="relu"))
    assert abs(numbers).max() <= np.sqrt(6 / 100) and abs(numbers.std() - np.sqrt(2 / 100)) < 0.01
    assert weight.requires_grad and weight.is_leaf
    assert abs(array_of(nn.init.kaiming_normal_(weight, mode="fan_out")).std() - np.sqrt(2 / 50)) < 0.01
    assert abs(array_of(nn.init.xavier_uniform_(weight, gain=2.0)).std() - 2 * np.sqrt(2 / 150)) < 0.01
    assert abs(array_of(nn.init.xavier_normal_(weight)).std() - np.sqrt(2 / 150)) < 0.01
    assert 0.2 < array_of(nn.init.uniform_(weight, 0.2, 0.4)).min() + 1e-6
    assert abs(array_of(nn.init.normal_(weight, 1.0, 0.1)).mean() - 1) < 0.01
    assert nn.init.zeros_(weight) is weight and not array_of(weight).any()
    assert (array_of(nn.init.constant_(weight, 3)) == 3).all() and (array_of(nn.init.ones_(weight)) == 1).all()
    assert nn.init.calculate_gain("tanh") == 5 / 3 and nn.init.calculate_gain("leaky_relu", 1) == 1
    with pytest.raises(ValueError, match="no gain"):
        nn.init.calculate_gain("gelu")
    with pytest.raises(ValueError, match="fan_in"):
        nn.init.kaiming_normal_(weight, mode="fan")
    with pytest.raises(crisol.InvalidArgumentError):
        nn.init.xavier_normal_(nn.Linear(2, 2).bias)


def test_models():
    assert nn.models.resnet18().parameter_count() == 11_689_512
    assert nn.models.mobilenet_v2(10).eval()(crisol.zeros((1, 3, 32, 32))).shape == (1, 10)
    assert nn.models.RowLSTM()(crisol.zeros((2, 1, 28, 28))).shape == (2, 10)
    net = nn.models.resnet18(num_classes=4)
    head = nn.Linear(512, 7)
    net.fc = head
    assert net.fc.weight.shares_storage_with(head.weight)
    assert net.eval()(crisol.zeros((1, 3, 32, 32))).shape == (1, 7)
    assert net.layer2[0].conv1.weight.shape == (128, 64, 3, 3)
    with pytest.raises(TypeError, match="cannot be replaced"):
        net.layer2[0].conv1 = nn.Conv2d(64, 128, 3)
    with pytest.raises(TypeError):
        net.fc = nn.ReLU()

    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.models.SimpleCNN(num_classes=3)

        def forward(self, x):
            return F.softmax(self.body(x), dim=1)

    assert_close(crisol.sum(Wrapped()(crisol.zeros((2, 1, 28, 28))), axis=1), [1, 1])


def test_settings_are_attributes():
    conv = nn.Conv2d(3, 8, 3, stride=2, padding=(1, 0))
    assert (conv.in_channels, conv.out_channels, conv.groups) == (3, 8, 1)
    assert (conv.kernel_size, conv.stride, conv.padding, conv.dilation) == ((3, 3), (2, 2), (1, 0), (1, 1))
    assert nn.Conv2d(1, 1, 3, padding="same").padding == "same" and nn.MaxPool2d(2).stride == 2
    linear = nn.Linear(4, 5)
    assert (linear.in_features, linear.out_features) == (4, 5) and linear.bias.shape == (5,)
    lstm = nn.LSTM(3, 6, num_layers=2)
    assert (lstm.input_size, lstm.hidden_size, lstm.num_layers, lstm.batch_first) == (3, 6, 2, False)
    assert nn.Dropout(0.3).p == 0.3 and nn.BatchNorm2d(2).eps == 1e-5 and nn.Embedding(7, 2).embedding_dim == 2
    assert copy.deepcopy(linear).in_features == pickle.loads(pickle.dumps(linear)).in_features == 4


def test_settings_are_fixed():
    dropout = nn.Dropout(0.3)
    with pytest.raises(AttributeError, match="the p of a Dropout is fixed"):
        dropout.p = 0.5

    class Scaled(nn.Linear):
        def __init__(self, size):
            self.in_features = "own"
            super().__init__(size, size)

    assert Scaled(3).in_features == "own" and Scaled(3).out_features == 3
