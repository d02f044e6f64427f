"""How modules print, and their settings as attributes: for layers that Python made and for layers of the library."""

import pickle

import numpy as np
import pytest

import crisol
from crisol import nn

# The texts of PyTorch 2.15.
TEXTS = {
    "Linear(3, 4)": "Linear(in_features=3, out_features=4, bias=True)",
    "Linear(3, 4, bias=None)": "Linear(in_features=3, out_features=4, bias=False)",
    "Conv1d(3, 4, 2)": "Conv1d(3, 4, kernel_size=(2,), stride=(1,))",
    "Conv2d(4, 6, (3, 5), stride=2, padding=1, groups=2, bias=False)": (
        "Conv2d(4, 6, kernel_size=(3, 5), stride=(2, 2), padding=(1, 1), groups=2, bias=False)"
    ),
    "Conv2d(1, 1, 3, padding='same')": "Conv2d(1, 1, kernel_size=(3, 3), stride=(1, 1), padding=same)",
    "Conv3d(1, 2, 3, dilation=2)": "Conv3d(1, 2, kernel_size=(3, 3, 3), stride=(1, 1, 1), dilation=(2, 2, 2))",
    "ConvTranspose1d(2, 4, 3, stride=2, output_padding=1)": (
        "ConvTranspose1d(2, 4, kernel_size=(3,), stride=(2,), output_padding=(1,))"
    ),
    "MaxPool2d(2)": "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)",
    "MaxPool2d((2, 2))": "MaxPool2d(kernel_size=(2, 2), stride=(2, 2), padding=0, dilation=1, ceil_mode=False)",
    "AvgPool2d((2, 3), (1, 2), 1)": "AvgPool2d(kernel_size=(2, 3), stride=(1, 2), padding=1)",
    "AdaptiveAvgPool2d(1)": "AdaptiveAvgPool2d(output_size=1)",
    "AdaptiveAvgPool2d((1, 2))": "AdaptiveAvgPool2d(output_size=(1, 2))",
    "BatchNorm2d(3, momentum=None, affine=False)": (
        "BatchNorm2d(3, eps=1e-05, momentum=None, affine=False, bias=False, track_running_stats=True)"
    ),
    "InstanceNorm2d(3)": (
        "InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False)"
    ),
    "LayerNorm(4)": "LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)",
    "GroupNorm(2, 4)": "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)",
    "ReLU(True)": "ReLU(inplace=True)",
    "GELU()": "GELU(approximate='none')",
    "LeakyReLU(0.2, True)": "LeakyReLU(negative_slope=0.2, inplace=True)",
    "ELU()": "ELU(alpha=1.0)",
    "Softplus()": "Softplus(beta=1.0, threshold=20.0)",
    "Softmax(1)": "Softmax(dim=1)",
    "Dropout(0.25)": "Dropout(p=0.25, inplace=False)",
    "Flatten()": "Flatten(start_dim=1, end_dim=-1)",
    "Embedding(3, 4, padding_idx=1)": "Embedding(3, 4, padding_idx=1)",
    "LSTM(2, 3, num_layers=2, bidirectional=True, batch_first=True, dropout=0.5, proj_size=1)": (
        "LSTM(2, 3, proj_size=1, num_layers=2, batch_first=True, dropout=0.5, bidirectional=True)"
    ),
    "GRU(2, 3, bias=False)": "GRU(2, 3, bias=False)",
    "RNNCell(2, 3, nonlinearity='relu')": "RNNCell(2, 3, nonlinearity=relu)",
    "Sequential()": "Sequential()",
    "ModuleDict({'a': nn.ReLU()})": "ModuleDict(\n  (a): ReLU()\n)",
    "Sequential(nn.Linear(1, 2), nn.ReLU())": (
        "Sequential(\n  (0): Linear(in_features=1, out_features=2, bias=True)\n  (1): ReLU()\n)"
    ),
    "ModuleList([nn.ReLU(), nn.ReLU(), nn.Sequential(nn.Tanh())])": (
        "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Sequential(\n    (0): Tanh()\n  )\n)"
    ),
}


@pytest.mark.parametrize("text", TEXTS)
def test_text(text):
    assert repr(eval(f"nn.{text}")) == TEXTS[text]


def test_own_modules():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.inner = nn.Parameter(crisol.ones((3,))), nn.Linear(1, 1)

        def extra_repr(self):
            return "a=1\nb=2"

    inner = "(inner): Linear(in_features=1, out_features=1, bias=True)"
    assert repr(Own()) == f"Own(\n  a=1\n  b=2\n  {inner}\n)"

    class Named(nn.Linear):
        def extra_repr(self):
            return "named, " + super().extra_repr()

    assert repr(Named(1, 2)) == "Named(named, in_features=1, out_features=2, bias=True)"


def test_layers_of_the_library_know_their_settings():
    net = nn.models.ResNet((1, 1, 1, 1))
    assert repr(net.fc) == "Linear(in_features=512, out_features=1000, bias=True)"
    assert net.fc.in_features == 512 and net.fc.out_features == 1000
    conv, norm = net.conv1, net.bn1
    assert (conv.in_channels, conv.out_channels, conv.kernel_size) == (3, 64, (7, 7))
    assert (conv.stride, conv.padding, conv.dilation, conv.groups) == ((2, 2), (3, 3), (1, 1), 1)
    assert (norm.num_features, norm.eps, norm.momentum, norm.affine) == (64, 1e-5, 0.1, True)
    assert net.layer1[0].conv1.out_channels == 64
    with pytest.raises(AttributeError, match="fixed"):
        net.fc.in_features = 3
    copied = pickle.loads(pickle.dumps(conv))
    assert copied.kernel_size == (7, 7) and crisol.equal(copied.weight, conv.weight)
    net.fc = nn.Linear(net.fc.in_features, 3)
    assert net.fc.out_features == 3


def test_arguments_count_as_true_or_false():
    assert nn.Linear(2, 2, bias=None).bias is None and nn.Linear(2, 2, bias=np.True_).bias is not None
    assert nn.Conv2d(1, 1, 3, bias=0).bias is None
    assert nn.LSTM(2, 3, bias=None, batch_first=1).batch_first is True
    assert nn.LayerNorm(3, elementwise_affine=None).weight is None
    assert nn.GRUCell(2, 3, bias=None).bias is False


def test_batch_norm_without_momentum():
    norm = nn.BatchNorm1d(2, momentum=None)
    batches = [np.random.default_rng(i).normal(size=(5, 2)).astype(np.float32) for i in range(3)]
    for batch in batches:
        norm(crisol.asarray(batch))
    assert np.allclose(norm.running_mean, np.mean([b.mean(0) for b in batches], 0), atol=1e-6)
    assert norm.momentum is None and norm.num_batches_tracked.item() == 3
    instance = nn.InstanceNorm1d(2, track_running_stats=True)
    instance(crisol.ones((3, 2, 4)))
    assert instance.num_batches_tracked.item() == 0  # As in PyTorch.
