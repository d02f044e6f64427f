"""Copies and pickles of modules, parameters and optimisers."""

import copy
import multiprocessing
import pickle

import crisol
import numpy as np
import pytest
from crisol import nn, optim
from numeric import array_of, tensor


def by_pickle(value):
    return pickle.loads(pickle.dumps(value))


both_ways = pytest.mark.parametrize("copied", [copy.deepcopy, by_pickle])


class Block(nn.Module):
    def __init__(self, size, note):
        super().__init__()
        self.note = note
        self.linear = nn.Linear(size, size)
        self.scale = nn.Parameter(crisol.rand(size))
        self.register_buffer("count", crisol.asarray(3))

    def forward(self, x):
        return self.linear(x) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(3, ["a"]), Block(3, ["b"])])
        self.by_name = nn.ModuleDict({"head": nn.Sequential(nn.ReLU(), nn.Linear(3, 2, bias=False))})

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.by_name["head"](x)


def same(a, b):
    """Asserts that two modules have the same structure and values, and no memory together."""
    assert repr(a) == repr(b) and type(a) is type(b)
    ours, theirs = a.state_dict(), b.state_dict()
    assert list(ours) == list(theirs)
    for name, value in ours.items():
        assert np.array_equal(array_of(value), array_of(theirs[name])), name
        assert not value.shares_storage_with(theirs[name]), name
    assert [m.training for m in a.modules()] == [m.training for m in b.modules()]
    assert [p.requires_grad for p in a.parameters()] == [p.requires_grad for p in b.parameters()]


@both_ways
def test_module(copied):
    net = Net()
    net.blocks[1].eval()
    net.blocks[0].linear.requires_grad_(False)
    net.blocks[0].count = crisol.asarray(7)
    other = copied(net)
    same(net, other)
    assert other.blocks[0].note == ["a"] and other.blocks[0].note is not net.blocks[0].note
    x = tensor(np.ones((1, 3)))
    assert net(x).tolist() == other(x).tolist()
    other(x).sum().backward()
    assert other.blocks[1].scale.grad is not None and net.blocks[1].scale.grad is None


LAYERS = [
    nn.Linear(3, 2, bias=False),
    nn.Embedding(4, 3, padding_idx=1),
    nn.AdaptiveLogSoftmaxWithLoss(8, 6, [2, 4], div_value=2.0),
    nn.Conv2d(2, 4, (3, 1), stride=2, padding="valid", groups=2),
    nn.Conv1d(2, 4, 3, padding=1, groups=2),
    nn.ConvTranspose1d(2, 4, 3, 2, output_padding=1),
    nn.Conv3d(1, 2, 3, dilation=2),
    nn.ConvTranspose2d(2, 2, 3, output_padding=1, stride=2, bias=False),
    nn.ConvTranspose3d(2, 2, 3),
    nn.MaxPool2d(3, 2, padding=1, ceil_mode=True),
    nn.MaxPool3d(2),
    nn.AvgPool2d(3, count_include_pad=False),
    nn.AvgPool3d(2, divisor_override=3),
    nn.AdaptiveAvgPool2d((2, 3)),
    nn.AdaptiveAvgPool3d(1),
    nn.ReLU(inplace=True),
    nn.LeakyReLU(0.2),
    nn.Softplus(2.0, 10.0),
    nn.Softmax(dim=1),
    nn.Dropout(0.25),
    nn.Flatten(0, 1),
    nn.BatchNorm2d(3, eps=1e-3, momentum=0.2),
    nn.BatchNorm3d(3, affine=False),
    nn.BatchNorm1d(3),
    nn.InstanceNorm1d(3),
    nn.InstanceNorm2d(3, affine=True, track_running_stats=True),
    nn.InstanceNorm3d(3, momentum=0.2),
    nn.GroupNorm(2, 4, eps=1e-3),
    nn.LayerNorm((2, 3), eps=1e-3),
    nn.RNN(3, 4, num_layers=2, nonlinearity="relu"),
    nn.LSTM(3, 4, bidirectional=True, proj_size=2),
    nn.GRU(3, 4, bias=False, batch_first=True),
    nn.RNNCell(3, 4),
    nn.LSTMCell(3, 4, bias=False),
    nn.GRUCell(3, 4),
    nn.CrossEntropyLoss(crisol.ones(3), label_smoothing=0.1),
    nn.BCELoss(), nn.BCEWithLogitsLoss(pos_weight=crisol.ones(2)), nn.CTCLoss(1), nn.CosineEmbeddingLoss(0.1),
    nn.GaussianNLLLoss(full=True), nn.HingeEmbeddingLoss(), nn.HuberLoss(delta=2.0), nn.KLDivLoss(reduction="batchmean"),
    nn.L1Loss(), nn.MarginRankingLoss(), nn.MultiLabelMarginLoss(), nn.MultiLabelSoftMarginLoss(), nn.MultiMarginLoss(2),
    nn.PoissonNLLLoss(), nn.SmoothL1Loss(beta=0.5), nn.SoftMarginLoss(), nn.TripletMarginLoss(),
    nn.TripletMarginWithDistanceLoss(swap=True),
    nn.AdaptiveAvgPool1d(2), nn.AdaptiveMaxPool1d(2), nn.AdaptiveMaxPool2d(2), nn.AdaptiveMaxPool3d(2), nn.AlphaDropout(),
    nn.AvgPool1d(2), nn.Bilinear(2, 3, 4), nn.ChannelShuffle(2), nn.CircularPad1d(1), nn.CircularPad2d(1),
    nn.CircularPad3d(1), nn.ConstantPad1d(1, 2.0), nn.ConstantPad2d(1, 2.0), nn.ConstantPad3d(1, 2.0),
    nn.CosineSimilarity(), nn.Dropout1d(), nn.Dropout2d(0.1), nn.Dropout3d(), nn.EmbeddingBag(3, 2),
    nn.FeatureAlphaDropout(), nn.Fold(4, 2), nn.GLU(1), nn.Hardshrink(), nn.Hardtanh(-2, 2), nn.LPPool1d(2, 3),
    nn.LPPool2d(2, 3), nn.LPPool3d(2, 3), nn.FractionalMaxPool2d(2, 3),
    nn.FractionalMaxPool3d(2, output_ratio=0.5),
    nn.LocalResponseNorm(2), nn.MaxPool1d(2), nn.MaxUnpool1d(2), nn.MaxUnpool2d(2), nn.MaxUnpool3d(2), nn.PReLU(2),
    nn.PairwiseDistance(),
    nn.ParameterDict({"a": crisol.ones(2)}), nn.ParameterList([crisol.ones(2)]), nn.PixelShuffle(2), nn.PixelUnshuffle(2),
    nn.RMSNorm(3), nn.RReLU(), nn.ReflectionPad1d(1), nn.ReflectionPad2d((1, 2, 3, 4)), nn.ReflectionPad3d(1),
    nn.ReplicationPad1d(1), nn.ReplicationPad2d(1), nn.ReplicationPad3d(1), nn.Softmax2d(), nn.Softmin(1), nn.Softshrink(),
    nn.Softsign(), nn.Tanhshrink(), nn.Threshold(0.1, 2.0), nn.Unflatten(1, (2, 2)), nn.Unfold(2), nn.Upsample(4),
    nn.MultiheadAttention(4, 2), nn.TransformerEncoderLayer(4, 2, 8),
    nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2), nn.TransformerDecoderLayer(4, 2, 8),
    nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 2), nn.Transformer(4, 2, 1, 1, 8),
    nn.DataParallel(nn.Linear(2, 2)), nn.SyncBatchNorm(2), nn.QuantizedLinear(32, 2, bits=4, block=32),
    nn.UpsamplingBilinear2d(4), nn.UpsamplingNearest2d(4), nn.ZeroPad1d(1), nn.ZeroPad2d(1), nn.ZeroPad3d(1),
    nn.models.SimpleCNN(2, 5),
    nn.models.RowLSTM(4, 8, 3),
    nn.models.MobileNetV2(7),
]


@both_ways
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
def test_layers(layer, copied):
    layer.eval().requires_grad_(False)
    for value in layer.state_dict().values():
        value += 1
    same(layer, copied(layer))


def test_all_classes_are_tried():
    known = {type(layer) for layer in LAYERS} | {nn.Module, nn.ModuleList, nn.ModuleDict, nn.Sequential}
    known |= {nn.ResNet, nn.VGG, nn.AlexNet}  # Large. ResNet has a test below.
    activations = {nn.Identity, nn.Sigmoid, nn.Tanh, nn.SiLU, nn.GELU, nn.Mish, nn.SELU, nn.LogSigmoid, nn.ReLU6}
    known |= activations | {nn.Hardsigmoid, nn.Hardswish, nn.ELU, nn.CELU, nn.LogSoftmax, nn.NLLLoss, nn.MSELoss}
    known |= {getattr(nn, name) for name in nn._lazy.__all__}  # They become other classes.
    classes = {value for value in vars(nn).values() if isinstance(value, type) and issubclass(value, nn.Module)}
    assert classes <= known


@both_ways
def test_model_of_the_library(copied):
    net = nn.models.ResNet((1, 1, 1, 1))
    net.fc = nn.Linear(512, 3)
    net.layer1.eval()
    same(net, copied(net))


class Scaled(nn.Linear):
    def __init__(self, size):
        super().__init__(size, 2 * size)
        self.factor = 3

    def forward(self, x):
        return super().forward(x) * self.factor


@both_ways
def test_class_below_a_layer(copied):
    layer = Scaled(2)
    layer.factor = 5
    other = copied(layer)
    same(layer, other)
    assert other.factor == 5 and other(crisol.ones((1, 2))).tolist() == layer(crisol.ones((1, 2))).tolist()


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(3, 2)
        self.decoder = nn.Linear(2, 3, bias=False)
        self.decoder.weight = self.embedding.weight
        self.weight = self.embedding.weight
        self.again = self.decoder


@both_ways
def test_what_is_tied_stays_tied(copied):
    net = Tied()
    other = copied(net)
    assert list(dict(other.named_parameters())) == list(dict(net.named_parameters())) == ["weight"]
    with crisol.no_grad():
        other.embedding.weight.fill_(2)
    assert other.weight.tolist() == other.decoder.weight.tolist() == [[2, 2], [2, 2], [2, 2]]
    assert other.again is other.decoder and not other.weight.shares_storage_with(net.weight)


@both_ways
def test_module_that_holds_itself(copied):
    net = Block(2, None)
    net.note = [net]
    other = copied(net)
    assert other.note[0] is other


@both_ways
def test_random_numbers_go_on(copied):
    crisol.manual_seed(3)
    expected = (nn.Linear(4, 4), crisol.rand(3).tolist())[1]
    crisol.manual_seed(3)
    layer = nn.Linear(4, 4)
    copied(layer)
    assert crisol.rand(3).tolist() == expected


def test_shallow_copy():
    net = Net()
    other = copy.copy(net)
    assert other.blocks is net.blocks and list(other.state_dict()) == list(net.state_dict())


@both_ways
def test_parameter(copied):
    for p in (nn.Parameter(crisol.rand(2)), nn.Parameter(crisol.rand((2, 0)), requires_grad=False)):
        other = copied(p)
        assert type(other) is nn.Parameter and other.requires_grad == p.requires_grad and other.tolist() == p.tolist()
    buffer = copied(nn.Buffer(crisol.asarray([1, 2])))
    assert type(buffer) is nn.Buffer and buffer.tolist() == [1, 2]


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    "Adam": lambda p: optim.Adam(p, 0.01, betas=(0.8, 0.9), amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, 0.01, weight_decay=0.1),
    "RMSprop": lambda p: optim.RMSprop(p, 0.01, centered=True, momentum=0.5),
    "Lion": lambda p: optim.Lion(p, 0.01),
}


@both_ways
@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("first", ["net", "optimizer"])
def test_training_goes_on_with_the_same_bits(name, first, copied):
    def train(net, optimizer):
        x = tensor(np.arange(6).reshape(2, 3) / 7)
        for _ in range(3):
            optimizer.zero_grad()
            (net(x) ** 2).sum().backward()
            optimizer.step()
        return [p.tolist() for p in net.parameters()]

    net = Net()
    groups = [{"params": list(net.blocks.parameters()), "lr": 0.02}, {"params": list(net.by_name.parameters())}]
    optimizer = OPTIMIZERS[name](groups)
    optimizer.note = "mine"
    train(net, optimizer)
    if first == "net":
        other, its_optimizer = copied((net, optimizer))
    else:
        its_optimizer, other = copied((optimizer, net))
    assert its_optimizer.note == "mine" and its_optimizer.param_groups[0]["lr"] == 0.02
    assert train(net, optimizer) == train(other, its_optimizer)


def test_state_dicts():
    net = Net()
    optimizer = optim.Adam(net.parameters())
    (net(crisol.ones((1, 3)))).sum().backward()
    optimizer.step()
    for state in (net.state_dict(), optimizer.state_dict()["state"][0]):
        for other in (by_pickle(state), copy.deepcopy(state)):
            assert list(other) == list(state)
            assert all(np.array_equal(array_of(other[name]), array_of(state[name])) for name in state)
            assert not any(other[name].shares_storage_with(state[name]) for name in state)


def test_parts_without_a_constructor():
    block = nn.models.ResNet((1, 1, 1, 1)).layer1[0]  # A class of C++ that Python does not know.
    for act in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="state_dict"):
            act(block)
    conv = nn.models.SimpleCNN().conv1
    same(conv, copy.deepcopy(conv))
    same(conv, by_pickle(conv))


def answer(net, queue):
    queue.put(net(crisol.ones((1, 3))).tolist())


def test_another_process():
    context = multiprocessing.get_context("spawn")
    net, queue = Net(), context.Queue()
    process = context.Process(target=answer, args=(net, queue))
    process.start()
    process.join()
    assert process.exitcode == 0 and queue.get() == net(crisol.ones((1, 3))).tolist()


def test_hooks_are_copied():
    class Watched(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)
            self.seen = []
            self.fc.register_forward_hook(self.keep)

        def keep(self, module, args, result):
            self.seen.append(module)

        def forward(self, x):
            return self.fc(x)

    net = Watched()
    copied = copy.deepcopy(net)
    copied(crisol.ones(1, 2))
    assert copied.seen == [copied.fc] and net.seen == []
    calls = []
    model = nn.models.SimpleCNN()
    model.conv1.register_forward_hook(lambda *given: calls.append(1))
    copy.deepcopy(model)(crisol.ones(1, 1, 28, 28))
    assert calls == [1]
