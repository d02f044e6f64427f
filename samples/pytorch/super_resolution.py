"""Learns to enlarge images to twice their size with an efficient sub-pixel convolution. Shi et al. 2016, on MNIST's
digits.

    python super_resolution.py --device crisol --data data/mnist
"""

import argparse
from pathlib import Path

import torch
from mnist_images import images
from torch import nn
from torch.nn import functional

try:
    import torch_crisol  # noqa: F401
except ImportError:
    print("torch_crisol is not installed, so there is no device crisol")


def net(scale: int) -> nn.Module:
    """Images (N, 1, H, W) to (N, 1, scale H, scale W)."""
    layers = nn.Sequential(
        nn.Conv2d(1, 64, 5, padding=2), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
        nn.Conv2d(64, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, scale * scale, 3, padding=1), nn.PixelShuffle(scale),
    )  # fmt: skip
    for layer in layers[:-2]:
        if isinstance(layer, nn.Conv2d):
            nn.init.orthogonal_(layer.weight, nn.init.calculate_gain("relu"))
    nn.init.orthogonal_(layers[-2].weight)
    return layers


def decibels(error: torch.Tensor) -> float:
    """The peak signal-to-noise ratio for a mean squared error."""
    return -10 * error.log10().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data/mnist"), help="the folder of MNIST's four files")
    parser.add_argument("--device", default="crisol" if hasattr(torch, "crisol") else "cpu", help="crisol or cpu")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--images", type=int, default=2000, help="how many of the training images to use")
    options = parser.parse_args()
    torch.manual_seed(1)
    model = net(2).to(options.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    training = images(options.data, "train")[: options.images].to(options.device)
    tests = images(options.data, "t10k")[:500].to(options.device)
    for epoch in range(options.epochs):
        total = torch.zeros((), device=options.device)
        batches = training[torch.randperm(len(training)).to(options.device)].split(options.batch_size)
        for large in batches:
            optimizer.zero_grad()
            loss = functional.mse_loss(model(functional.avg_pool2d(large, 2)), large)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        with torch.no_grad():
            small = functional.avg_pool2d(tests, 2)
            learned = functional.mse_loss(model(small), tests)
            bilinear = functional.mse_loss(functional.interpolate(small, scale_factor=2, mode="bilinear"), tests)
        print(
            f"epoch {epoch + 1}: loss {total.item() / len(batches):.5f}, {decibels(learned):.2f} dB on new images"
            f" (bilinear: {decibels(bilinear):.2f} dB)"
        )


if __name__ == "__main__":
    main()
