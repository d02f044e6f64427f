"""Nets of torchvision train as on the CPU, without an op on the CPU."""

import copy

import pytest
import torch
from compare import DEVICE, native
from torch import nn

models = pytest.importorskip("torchvision.models")


def convnext():
    blocks = [models.convnext.CNBlockConfig(16, 32, 2), models.convnext.CNBlockConfig(32, None, 2)]
    return models.ConvNeXt(blocks, stochastic_depth_prob=0.0, num_classes=10)


NETS = {
    "squeezenet": lambda: models.squeezenet1_1(num_classes=10),
    "resnet": lambda: models.resnet18(num_classes=10),
    "mobilenet": lambda: models.mobilenet_v3_small(num_classes=10),
    "vit": lambda: models.VisionTransformer(64, 16, 2, 4, 64, 128, num_classes=10),
    "swin": lambda: models.SwinTransformer(
        [4, 4], 32, [2, 2], [2, 4], [7, 7], num_classes=10, stochastic_depth_prob=0.0
    ),
    "convnext": convnext,
}


def losses(model, device):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    generator = torch.Generator().manual_seed(1)
    result = []
    for _ in range(4):
        x = torch.randn(4, 3, 64, 64, generator=generator).to(device)
        labels = torch.randint(10, (4,), generator=generator).to(device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        result.append(loss.item())
    return result


@pytest.mark.parametrize("name", NETS)
def test_nets_of_torchvision(name):
    torch.manual_seed(0)
    model = NETS[name]()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    twin = copy.deepcopy(model).to(DEVICE)
    expected = losses(model, "cpu")
    with native():
        assert losses(twin, DEVICE) == pytest.approx(expected, rel=1e-4)
