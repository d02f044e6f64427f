"""Trains a small CNN on MNIST with PyTorch, on an OpenCL device of any vendor. Only the name of the device differs from
a program for another device:

    python mnist.py --device crisol
    python mnist.py --device cpu
"""

import argparse
import time
from pathlib import Path

import torch
from mnist_images import images, labels
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

try:
    import torch_crisol  # noqa: F401
except ImportError:
    print("torch_crisol is not installed, so there is no device crisol")


def dataset(folder: Path, part: str, count: int) -> TensorDataset:
    """The first `count` images with mean 0 and deviation 1, and their labels."""
    return TensorDataset((images(folder, part)[:count] - 0.1307) / 0.3081, labels(folder, part)[:count])


def net() -> nn.Module:
    """Two convolutions and two linear layers."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10),
    )  # fmt: skip


def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, device: str) -> float:
    """One epoch. Returns the mean loss."""
    model.train()
    total = torch.zeros((), device=device)
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total.item() / len(loader)


@torch.no_grad()
def accuracy(model: nn.Module, loader: DataLoader, device: str) -> float:
    """The share of images that get the right label."""
    model.eval()
    right = torch.zeros((), dtype=torch.int64, device=device)
    for x, y in loader:
        right += (model(x.to(device)).argmax(1) == y.to(device)).sum()
    return right.item() / len(loader.dataset)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data/mnist"), help="the folder of MNIST's four files")
    parser.add_argument("--device", default="crisol" if hasattr(torch, "crisol") else "cpu", help="crisol or cpu")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--images", type=int, default=60000, help="how many of the training images to use")
    options = parser.parse_args()
    torch.manual_seed(1)
    model = net().to(options.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.lr)
    training = DataLoader(dataset(options.data, "train", options.images), options.batch_size, shuffle=True)
    tests = DataLoader(dataset(options.data, "t10k", 10000), 1000)
    for epoch in range(options.epochs):
        start = time.monotonic()
        loss = train(model, training, optimizer, options.device)
        print(
            f"epoch {epoch + 1}: loss {loss:.4f}, accuracy {accuracy(model, tests, options.device):.2%},"
            f" {time.monotonic() - start:.1f} s"
        )


if __name__ == "__main__":
    main()
