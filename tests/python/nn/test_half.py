"""Every layer with parameters and inputs of float16 against the same layer in float32: results and gradients."""

import copy

import crisol
import numpy as np
import pytest
from crisol import nn
from numeric import array_of

EPSILON = float(np.finfo(np.float16).eps)
RANDOM = np.random.default_rng(5)


def numbers(*shape, low=-1.0, high=1.0):
    return RANDOM.uniform(low, high, shape).astype(np.float16)


def indices(high, *shape):
    return RANDOM.integers(0, high, shape).astype(np.int64)


SIGNS = np.array([1, -1, 1], np.float16)
MASK = np.array([[1, 0, 1, 0, 0], [0, 1, 0, 0, 1], [1, 1, 0, 1, 0]], np.float16)
IMAGE, LINE, VOLUME = numbers(2, 4, 8, 9), numbers(2, 4, 11), numbers(2, 4, 5, 6, 7)
ROWS, SEQUENCE = numbers(3, 5), numbers(5, 2, 8)

# The layer, its inputs, and the number of roundings to which results may differ if it is not 4.
LAYERS = [
    (nn.Linear(5, 7), ROWS),
    (nn.LazyLinear(7), ROWS),
    (nn.Bilinear(5, 5, 3), ROWS, numbers(3, 5), 8),
    (nn.Identity(), ROWS),
    (nn.Conv1d(4, 6, 3, padding=1, groups=2), LINE),
    (nn.Conv2d(4, 6, 3, stride=2, padding=1), IMAGE),
    (nn.Conv2d(4, 8, 3, padding="same", groups=4), IMAGE),
    (nn.Conv3d(4, 6, 3, padding=1), VOLUME),
    (nn.ConvTranspose1d(4, 6, 3, stride=2), LINE),
    (nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1), IMAGE),
    (nn.ConvTranspose3d(4, 6, 3, stride=2), VOLUME),
    (nn.LazyConv1d(3, 3), LINE),
    (nn.LazyConv2d(3, 3), IMAGE),
    (nn.LazyConv3d(3, 3), VOLUME),
    (nn.LazyConvTranspose1d(3, 3), LINE),
    (nn.LazyConvTranspose2d(3, 3), IMAGE),
    (nn.LazyConvTranspose3d(3, 3), VOLUME),
    (nn.BatchNorm1d(5), ROWS),
    (nn.BatchNorm2d(4), IMAGE),
    (nn.BatchNorm2d(4).eval(), IMAGE),
    (nn.BatchNorm2d(4, affine=False), IMAGE),
    (nn.BatchNorm3d(4), VOLUME),
    (nn.InstanceNorm1d(4, affine=True), LINE),
    (nn.InstanceNorm2d(4, affine=True, track_running_stats=True), IMAGE),
    (nn.InstanceNorm3d(4), VOLUME),
    (nn.LayerNorm(9), IMAGE),
    (nn.GroupNorm(2, 4), IMAGE),
    (nn.RMSNorm(9, eps=1e-3), IMAGE),
    (nn.LocalResponseNorm(2), IMAGE),
    (nn.MaxPool1d(3, 2), LINE),
    (nn.MaxPool2d(3, 2, 1), IMAGE),
    (nn.MaxPool3d(2), VOLUME),
    (nn.AvgPool1d(3, 2), LINE),
    (nn.AvgPool2d(3, 2, 1), IMAGE),
    (nn.AvgPool3d(2), VOLUME),
    (nn.LPPool1d(2, 3), LINE, 16),
    (nn.LPPool2d(2, 3), IMAGE, 16),
    (nn.LPPool3d(2, 2), VOLUME, 16),
    (nn.AdaptiveAvgPool1d(3), LINE),
    (nn.AdaptiveAvgPool2d(3), IMAGE),
    (nn.AdaptiveAvgPool3d(2), VOLUME),
    (nn.AdaptiveMaxPool1d(3), LINE),
    (nn.AdaptiveMaxPool2d(3), IMAGE),
    (nn.AdaptiveMaxPool3d(2), VOLUME),
    (nn.MaxUnpool1d(2), numbers(1, 1, 2), np.array([[[0, 3]]])),
    (nn.MaxUnpool3d(2), numbers(1, 1, 1, 1, 2), np.array([[[[[0, 7]]]]])),
    (nn.MaxUnpool2d(2), numbers(1, 1, 2, 2), np.array([[[[0, 3], [9, 14]]]])),
    (nn.Upsample(scale_factor=2), IMAGE),
    (nn.Upsample(size=(5, 13), mode="bilinear"), IMAGE),
    (nn.UpsamplingNearest2d(scale_factor=2), IMAGE),
    (nn.UpsamplingBilinear2d(scale_factor=2), IMAGE),
    (nn.Fold((4, 5), 2), numbers(2, 12, 12)),
    (nn.Unfold(3), IMAGE),
    (nn.PixelShuffle(2), IMAGE),
    (nn.PixelUnshuffle(2), numbers(2, 1, 4, 6)),
    (nn.ChannelShuffle(2), IMAGE),
    (nn.Flatten(), IMAGE),
    (nn.Unflatten(1, (2, 2)), IMAGE),
    (nn.Embedding(7, 5), indices(7, 3, 4)),
    (nn.EmbeddingBag(7, 5, mode="sum"), indices(7, 3, 4), 8),
    (nn.CosineSimilarity(), ROWS, numbers(3, 5), 8),
    (nn.PairwiseDistance(), ROWS, numbers(3, 5), 8),
    (nn.RNN(8, 6, num_layers=2), SEQUENCE, 8),
    (nn.RNN(8, 6, nonlinearity="relu"), SEQUENCE),
    (nn.LSTM(8, 6, bidirectional=True), SEQUENCE),
    (nn.LSTM(8, 6, proj_size=3), SEQUENCE),
    (nn.GRU(8, 6, batch_first=True), SEQUENCE),
    (nn.RNNCell(5, 6), ROWS),
    (nn.LSTMCell(5, 6), ROWS),
    (nn.GRUCell(5, 6), ROWS),
    (nn.MultiheadAttention(8, 2), SEQUENCE, SEQUENCE, SEQUENCE, 16),
    (nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0), SEQUENCE, 64),
    (nn.TransformerDecoderLayer(8, 2, 12, dropout=0.0), SEQUENCE, SEQUENCE, 64),
    (nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0), 2), SEQUENCE, 128),
    (nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 12, dropout=0.0), 2), SEQUENCE, SEQUENCE, 128),
    (nn.Transformer(8, 2, 1, 1, 12, dropout=0.0), SEQUENCE, SEQUENCE, 128),
    (nn.BCELoss(), numbers(3, 5, low=0.1, high=0.9), MASK, 8),
    (nn.BCEWithLogitsLoss(), ROWS, MASK, 8),
    (nn.CTCLoss(), np.log(numbers(6, 2, 4, low=0.1, high=0.9)), indices(3, 2, 2) + 1, np.full(2, 6), np.full(2, 2), 32),
    (nn.CosineEmbeddingLoss(), ROWS, numbers(3, 5), SIGNS, 16),
    (nn.AdaptiveLogSoftmaxWithLoss(5, 8, [3]), ROWS, indices(8, 3), 16),
    (nn.CrossEntropyLoss(label_smoothing=0.1), ROWS, indices(5, 3)),
    (nn.CrossEntropyLoss(weight=crisol.asarray(numbers(5, low=0.5))), ROWS, indices(5, 3), 8),
    (nn.GaussianNLLLoss(), ROWS, numbers(3, 5), numbers(3, 5, low=0.5), 16),
    (nn.HingeEmbeddingLoss(), ROWS, 2 * MASK - 1, 8),
    (nn.HuberLoss(), ROWS, numbers(3, 5), 8),
    (nn.KLDivLoss(reduction="sum"), ROWS, numbers(3, 5, low=0.1), 16),
    (nn.L1Loss(), ROWS, numbers(3, 5), 8),
    (nn.MSELoss(), ROWS, numbers(3, 5)),
    (nn.MarginRankingLoss(), numbers(3), numbers(3), SIGNS, 8),
    (nn.MultiLabelMarginLoss(), ROWS, np.array([[1, 2, -1, 0, 0]] * 3), 8),
    (nn.MultiLabelSoftMarginLoss(), ROWS, MASK, 8),
    (nn.MultiMarginLoss(), ROWS, indices(5, 3), 8),
    (nn.NLLLoss(), ROWS, indices(5, 3)),
    (nn.PoissonNLLLoss(), ROWS, numbers(3, 5, low=0.1), 8),
    (nn.SmoothL1Loss(), ROWS, numbers(3, 5), 8),
    (nn.SoftMarginLoss(), ROWS, 2 * MASK - 1, 8),
    (nn.TripletMarginLoss(), ROWS, numbers(3, 5), numbers(3, 5), 16),
    (nn.TripletMarginWithDistanceLoss(), ROWS, numbers(3, 5), numbers(3, 5), 16),
]
# Functions of single elements, and layers that move elements.
ELEMENTWISE = """CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid Mish PReLU ReLU ReLU6 SELU
    SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink""".split()
LAYERS += [(getattr(nn, name)(), ROWS) for name in ELEMENTWISE]
LAYERS += [(nn.Threshold(0.1, 20.0), ROWS), (nn.RReLU().eval(), ROWS), (nn.GLU(), LINE[..., :10])]
LAYERS += [(nn.Softmax2d(), IMAGE), (nn.Softmax(-1), ROWS), (nn.LogSoftmax(-1), ROWS), (nn.Softmin(-1), ROWS)]
INPUTS = {1: LINE, 2: IMAGE, 3: VOLUME}
LAYERS += [
    (getattr(nn, f"{kind}Pad{axes}d")(1, *more), INPUTS[axes])
    for kind, more in {"Circular": (), "Constant": (0.5,), "Reflection": (), "Replication": (), "Zero": ()}.items()
    for axes in (1, 2, 3)
]
LAYERS += [(crisol.quantize(nn.Linear(5, 7), bits=bits), ROWS) for bits in (4, 8)]
LISTED = {type(case[0]).__name__ for case in LAYERS}  # A lazy layer changes its class at its first call.
# Their results are random.
RANDOM_LAYERS = {"Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"}
RANDOM_LAYERS |= {"FractionalMaxPool2d", "FractionalMaxPool3d"}
CONTAINERS = {"Module", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Sequential", "DataParallel"}
# They are made of the other layers.
MODELS = {"AlexNet", "MobileNetV2", "ResNet", "RowLSTM", "SimpleCNN", "SyncBatchNorm", "VGG"}


def parts_of(result):
    """The tensors of a result."""
    if isinstance(result, crisol.Tensor):
        return [result]
    return [part for some in result if some is not None for part in parts_of(some)]


def run(layer, inputs, dtype):
    """The results, and the gradients of inputs and parameters."""
    given = [crisol.asarray(i) if i.dtype != np.float16 else crisol.asarray(i).to(dtype) for i in inputs]
    leaves = [i.requires_grad_() for i in given if i.is_floating_point()]
    results = [part for part in parts_of(layer(*given)) if part.is_floating_point()]
    random = np.random.default_rng(3)
    weights = [random.uniform(-1, 1, r.shape).astype(np.float16) for r in results]
    wanted = [(r, crisol.asarray(w).to(dtype)) for r, w in zip(results, weights) if r.requires_grad]
    crisol.autograd.backward([r for r, _ in wanted], [w for _, w in wanted])
    gradients = {f"input {i}": leaf.grad for i, leaf in enumerate(leaves)}
    gradients |= {name: p.grad for name, p in layer.named_parameters()}
    gradients |= {name: b for name, b in layer.named_buffers() if b.is_floating_point()}
    return {f"result {i}": r for i, r in enumerate(results)} | {n: g for n, g in gradients.items() if g is not None}


@pytest.mark.parametrize("case", LAYERS, ids=lambda case: type(case[0]).__name__)
def test_layers_in_half_precision(case):
    layer, *inputs = case
    roundings = inputs.pop() if isinstance(inputs[-1], int) else 4
    if "Lazy" in type(layer).__name__:
        layer(*[crisol.asarray(i).to(crisol.float32) for i in inputs])
    half = copy.deepcopy(layer).half()
    single = copy.deepcopy(half).float()
    assert all(p.dtype is crisol.float16 for p in half.parameters())
    found, expected = run(half, inputs, crisol.float16), run(single, inputs, crisol.float32)
    assert found.keys() == expected.keys()
    for name, value in found.items():
        assert value.dtype is crisol.float16, name
        right = array_of(expected[name].detach(), np.float64)
        error = np.abs(array_of(value.detach(), np.float64) - right)
        assert error.max(initial=0) <= roundings * EPSILON * np.abs(right).max(initial=1e-4), name


@pytest.mark.parametrize("name", sorted(RANDOM_LAYERS))
def test_random_layers_keep_float16(name):
    layer = getattr(nn, name)(2, output_ratio=0.5) if name.startswith("Fractional") else getattr(nn, name)(0.5)
    x = crisol.asarray(INPUTS[int(name[-2]) if name[-1] == "d" else 2]).requires_grad_()
    y = layer(x)
    y.sum().backward()
    assert y.dtype is crisol.float16 and x.grad.dtype is crisol.float16


def test_the_list_has_every_layer():
    known = LISTED | RANDOM_LAYERS | CONTAINERS | MODELS
    names = {n for n, c in vars(nn).items() if isinstance(c, type) and issubclass(c, nn.Module) and n[0] != "_"}
    assert not names - known


def test_modules_change_their_dtype():
    net = nn.Sequential(nn.Conv2d(4, 3, 3), nn.BatchNorm2d(3), nn.Flatten())
    weight = net[0].weight
    net(crisol.asarray(IMAGE).float()).sum().backward()
    assert net.half() is net and net[0].weight.dtype is weight.dtype is weight.grad.dtype is crisol.float16
    assert net[1].running_mean.dtype is crisol.float16 and net[1].num_batches_tracked.dtype is crisol.int64
    assert net.float()[1].running_var.dtype is crisol.float32
    assert nn.Linear(2, 3, dtype=crisol.float16).weight.dtype is crisol.float16
    with pytest.raises(ValueError, match="must be float32"):
        net.to(crisol.int64)
