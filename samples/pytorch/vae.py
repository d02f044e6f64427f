"""Trains a variational autoencoder on MNIST's digits and draws new ones. Kingma and Welling 2014.

    python vae.py --device crisol --data data/mnist
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


class VAE(nn.Module):
    """An encoder to the mean and the log variance of 20 numbers, and a decoder from these numbers to an image."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(784, 400), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(400, 20), nn.Linear(400, 20)
        self.decoder = nn.Sequential(nn.Linear(20, 400), nn.ReLU(), nn.Linear(400, 784), nn.Unflatten(1, (1, 28, 28)))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        hidden = self.encoder(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(code), mean, log_variance


def loss_of(logits: torch.Tensor, x: torch.Tensor, mean: torch.Tensor, log_variance: torch.Tensor) -> torch.Tensor:
    """The error of the image, and the divergence of the code from a normal distribution, for each image."""
    error = nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum()
    return (error + divergence) / len(x)


def text_of(image: torch.Tensor) -> str:
    """An image as lines of characters."""
    return "\n".join("".join(" .:*#"[int(4 * value + 0.5)] for value in row) for row in image[::2].tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data/mnist"), help="the folder of MNIST's four files")
    parser.add_argument("--device", default="crisol" if hasattr(torch, "crisol") else "cpu", help="crisol or cpu")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--images", type=int, default=60000, help="how many of the training images to use")
    options = parser.parse_args()
    torch.manual_seed(1)
    model = VAE().to(options.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    training = images(options.data, "train")[: options.images].to(options.device)
    for epoch in range(options.epochs):
        total = torch.zeros((), device=options.device)
        batches = training[torch.randperm(len(training)).to(options.device)].split(options.batch_size)
        for x in batches:
            optimizer.zero_grad()
            logits, mean, log_variance = model(x)
            loss = loss_of(logits, x, mean, log_variance)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        print(f"epoch {epoch + 1}: loss {total.item() / len(batches):.4f}")
    with torch.no_grad():
        print(text_of(model.decoder(torch.randn(1, 20, device=options.device)).sigmoid()[0, 0].cpu()))


if __name__ == "__main__":
    main()
