"""A variational autoencoder and an adversarial network over points on a ring, as a PyTorch program: only the imports
name crisol."""

import math

import crisol as torch
import crisol.nn as nn
import crisol.nn.functional as F
from crisol import optim


def ring(count: int) -> torch.Tensor:
    angle = torch.rand(count) * 2 * math.pi
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(count, 2)


class VAE(nn.Module):
    def __init__(self, hidden: int = 64, latent: int = 2) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, 2))

    def reparameterize(self, mu: torch.Tensor, logvar: torch.Tensor) -> torch.Tensor:
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mu, logvar = self.encoder(x).chunk(2, dim=-1)
        return self.decoder(self.reparameterize(mu, logvar)), mu, logvar


def vae_loss(x: torch.Tensor, out: torch.Tensor, mu: torch.Tensor, logvar: torch.Tensor) -> torch.Tensor:
    reconstruction = F.mse_loss(out, x, reduction="sum") / x.size(0)
    divergence = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    return 10 * reconstruction + 0.1 * divergence


def weights_init(m: nn.Module) -> None:
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.2)
        nn.init.zeros_(m.bias)


def train_gan(steps: int) -> tuple[float, float]:
    generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(True), nn.Linear(32, 2))
    critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2, inplace=True), nn.Linear(32, 1))
    generator.apply(weights_init)
    criterion = nn.BCEWithLogitsLoss()
    opt_g = optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    opt_d = optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.999))
    real_label, fake_label = torch.ones(64, 1), torch.zeros(64, 1)
    for _ in range(steps):
        fake = generator(torch.randn(64, 4))
        opt_d.zero_grad()
        loss_d = criterion(critic(ring(64)), real_label) + criterion(critic(fake.detach()), fake_label)
        loss_d.backward()
        opt_d.step()
        opt_g.zero_grad()
        loss_g = criterion(critic(fake), real_label)
        loss_g.backward()
        opt_g.step()
    with torch.no_grad():
        radius = generator(torch.randn(256, 4)).norm(dim=1).mean().item()
    return loss_d.item(), radius


def main() -> None:
    torch.manual_seed(1)
    model = VAE()
    optimizer = optim.AdamW(model.parameters(), lr=3e-3)
    first = last = 0.0
    for step in range(150):
        x = ring(128)
        out, mu, logvar = model(x)
        loss = vae_loss(x, out, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=5.0)
        optimizer.step()
        last = loss.item()
        first = first or last
    print(f"vae {first:.3f} to {last:.3f}")
    loss_d, radius = train_gan(80)
    print(f"gan critic {loss_d:.3f} radius {radius:.3f}")


if __name__ == "__main__":
    main()
