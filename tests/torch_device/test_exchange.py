"""Tensors of crisol and tensors of PyTorch's device share memory."""

import gc

import crisol
import numpy as np
import pytest
import torch
from compare import DEVICE, assert_same
from crisol import nn


def test_from_torch_shares_memory():
    x = torch.arange(24.0, device=DEVICE).reshape(4, 6)
    y = crisol.from_torch(x)
    assert y.shape == (4, 6) and y.tolist() == x.tolist()
    y += 1
    x[1] = -5
    assert y.tolist() == x.tolist() and x[0, 0].item() == 1 and x[1, 2].item() == -5
    del x
    gc.collect()
    assert y[1].sum().item() == -30


VIEWS = {
    "transposed": lambda x: x.t(),
    "steps": lambda x: x[1:, ::2],
    "row": lambda x: x[2],
    "empty": lambda x: x[:0],
    "element": lambda x: x[0, 0],
    "expanded": lambda x: x[:, :1].expand(4, 3),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_keep_their_strides(view):
    x = torch.arange(24.0, device=DEVICE).reshape(4, 6)
    ours = crisol.from_torch(view(x))
    assert ours.tolist() == view(x).tolist() and tuple(ours.shape) == tuple(view(x).shape)
    back = crisol.to_torch(ours)
    assert back.device == x.device and back.dtype == x.dtype
    assert_same(back, view(x).cpu())
    if back.numel() > 1:
        assert back.stride() == view(x).stride()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "float64"])
def test_types(dtype):
    x = torch.tensor([0, 1, 3], device=DEVICE).to(getattr(torch, dtype))
    y = crisol.from_torch(x)
    assert y.dtype is getattr(crisol, dtype)
    assert_same(crisol.to_torch(y), x.cpu())


def test_to_torch_shares_memory():
    x = crisol.zeros(3, 4)
    y = crisol.to_torch(x[1:, :2])
    assert y.device == torch.device("crisol", 0)
    y += 2
    (y * 3).sum().item()
    assert x.tolist() == [[0, 0, 0, 0], [2, 2, 0, 0], [2, 2, 0, 0]]
    del x
    gc.collect()
    assert y.sum().item() == 8
    z = crisol.to_torch(crisol.ones(2)).requires_grad_()
    (z * z).sum().backward()
    assert z.grad.tolist() == [2, 2]


def test_dlpack():
    x = torch.arange(6.0, device=DEVICE).reshape(2, 3)
    y = crisol.from_dlpack(x)
    y[0, 0] = 9
    assert x[0, 0].item() == 9
    copied = crisol.from_dlpack(x, copy=True)
    copied[0, 0] = 1
    assert x[0, 0].item() == 9
    back = torch.from_dlpack(y.__dlpack__(dl_device=(12, 0)))
    back[1, 2] = -1
    assert x[1, 2].item() == -1 and back.device == x.device
    assert torch.from_dlpack(y).device.type == "cpu"
    assert_same(torch.from_dlpack(torch.utils.dlpack.to_dlpack(x.t())), x.t().cpu())
    assert np.from_dlpack(y).tolist() == x.tolist()
    with pytest.raises(BufferError, match="crisol:3"):
        y.__dlpack__(dl_device=(12, 3))


def test_tensors_of_the_cpu():
    x = torch.arange(4.0)
    assert crisol.from_torch(x).tolist() == [0, 1, 2, 3]


def test_refusals():
    x = torch.ones(2, device=DEVICE, requires_grad=True)
    with pytest.raises(RuntimeError, match="wants a gradient"):
        crisol.from_torch(x)
    with pytest.raises(TypeError, match="no dtype for c10::complex"):
        crisol.from_torch(torch.ones(2, dtype=torch.complex64, device=DEVICE))
    with pytest.raises(BufferError, match="wants a gradient"):
        crisol.to_torch(crisol.ones(2, requires_grad=True))


def test_gradients_cross_by_hand():
    """A loss of crisol, whose gradient goes on into PyTorch's graph."""
    net = torch.nn.Linear(3, 2).to(DEVICE)
    y = net(torch.ones(5, 3, device=DEVICE))
    ours = crisol.from_torch(y.detach()).requires_grad_()
    (ours * ours).sum().backward()
    y.backward(crisol.to_torch(ours.grad))
    assert_same(net.bias.grad, (2 * y).sum(0).cpu())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.rnn = nn.LSTM(4, 5)
        self.head = nn.Linear(5, 2)


def torch_net():
    net = torch.nn.Module()
    net.conv = torch.nn.Conv2d(1, 4, 3)
    net.norm = torch.nn.BatchNorm2d(4)
    net.rnn = torch.nn.LSTM(4, 5)
    net.head = torch.nn.Linear(5, 2)
    return net


@pytest.mark.parametrize("device", ["cpu", DEVICE])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_state_dicts_of_torch(device, dtype):
    theirs = torch_net().to(device=device, dtype=dtype)
    ours = Net()
    ours.load_state_dict(theirs.state_dict())
    for name, value in theirs.state_dict().items():
        found = ours.state_dict()[name]
        assert_same(torch.tensor(found.tolist(), dtype=value.dtype), value.cpu())
    ours.load_state_dict(dict(theirs.named_parameters()), strict=False)
    with crisol.no_grad():
        ours.head.bias.fill_(7)
    assert theirs.head.bias.detach().float().max().item() < 7


def test_a_parameter_in_an_arena_is_shared():
    """An optimiser of crisol moves its parameters, and PyTorch sees the new elements."""
    layer = nn.Linear(2, 1, bias=False)
    seen = crisol.to_torch(layer.weight.detach())
    before = seen.clone()
    optimizer = crisol.optim.SGD(layer.parameters(), lr=1.0)
    layer(crisol.ones(1, 2)).sum().backward()
    optimizer.step()
    assert_same(seen, (before - 1).cpu())
