"""Trains a generator and a discriminator of digits against each other. Radford, Metz and Chintala 2016, for 28 x 28
pixels.

    python dcgan.py --device crisol --data data/mnist
"""

import argparse
from pathlib import Path

import torch
from mnist_images import images
from torch import nn

try:
    import torch_crisol  # noqa: F401
except ImportError:
    print("torch_crisol is not installed, so there is no device crisol")

NOISE = 64  # Numbers that the generator makes an image of.


def generator() -> nn.Module:
    """(N, 64, 1, 1) of noise to images (N, 1, 28, 28) from -1 to 1."""
    return nn.Sequential(
        nn.ConvTranspose2d(NOISE, 64, 7, bias=False), nn.BatchNorm2d(64), nn.ReLU(True),
        nn.ConvTranspose2d(64, 32, 4, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(True),
        nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Tanh(),
    )  # fmt: skip


def discriminator() -> nn.Module:
    """Images to the logits (N) that they are real."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2, True),
        nn.Conv2d(32, 64, 4, 2, 1, bias=False), nn.BatchNorm2d(64), nn.LeakyReLU(0.2, True),
        nn.Conv2d(64, 1, 7), nn.Flatten(0),
    )  # fmt: skip


def initialize(module: nn.Module) -> None:
    """Weights of convolutions with deviation 0.02, and of batch norms around 1."""
    if isinstance(module, nn.Conv2d | nn.ConvTranspose2d):
        nn.init.normal_(module.weight, 0, 0.02)
    elif isinstance(module, nn.BatchNorm2d):
        nn.init.normal_(module.weight, 1, 0.02)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data/mnist"), help="the folder of MNIST's four files")
    parser.add_argument("--device", default="crisol" if hasattr(torch, "crisol") else "cpu", help="crisol or cpu")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--images", type=int, default=60000, help="how many of the training images to use")
    options = parser.parse_args()
    torch.manual_seed(1)
    maker, judge = (net.apply(initialize).to(options.device) for net in (generator(), discriminator()))
    of_maker, of_judge = (torch.optim.Adam(m.parameters(), lr=2e-4, betas=(0.5, 0.999)) for m in (maker, judge))
    criterion = nn.BCEWithLogitsLoss()
    training = images(options.data, "train")[: options.images] * 2 - 1
    for epoch in range(options.epochs):
        totals = torch.zeros(2, device=options.device)
        batches = training[torch.randperm(len(training))].split(options.batch_size)
        for batch in batches:
            real = batch.to(options.device)
            noise = torch.randn(len(real), NOISE, 1, 1).to(options.device)
            yes, no = torch.ones(len(real), device=options.device), torch.zeros(len(real), device=options.device)
            fake = maker(noise)
            of_judge.zero_grad()
            judged = criterion(judge(real), yes) + criterion(judge(fake.detach()), no)
            judged.backward()
            of_judge.step()
            of_maker.zero_grad()
            made = criterion(judge(fake), yes)
            made.backward()
            of_maker.step()
            totals += torch.stack((judged.detach(), made.detach()))
        of_both = (totals / len(batches)).tolist()
        print(f"epoch {epoch + 1}: loss of the discriminator {of_both[0]:.4f}, of the generator {of_both[1]:.4f}")


if __name__ == "__main__":
    main()
