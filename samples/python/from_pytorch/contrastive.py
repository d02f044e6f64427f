"""Contrastive learning of representations, as a PyTorch program: only the imports name crisol."""

import copy

import crisol as torch
import crisol.nn as nn
import crisol.nn.functional as F
from crisol.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Encoder(nn.Module):
    def __init__(self, inputs: int = 16, width: int = 32, out: int = 8) -> None:
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.ReLU())
        self.projector = nn.Sequential(nn.Linear(width, width, bias=False), nn.ReLU(), nn.Linear(width, out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.normalize(self.projector(self.backbone(x)), dim=-1)


def info_nce(z1: torch.Tensor, z2: torch.Tensor, temperature: float = 0.2) -> torch.Tensor:
    n = z1.shape[0]
    z = torch.cat([z1, z2], dim=0)
    scores = torch.mm(z, z.t()) / temperature
    scores.masked_fill_(torch.eye(2 * n, dtype=torch.bool, device=z.device), float("-inf"))
    labels = torch.cat([torch.arange(n, 2 * n), torch.arange(0, n)])
    return F.cross_entropy(scores, labels)


def augment(x: torch.Tensor) -> torch.Tensor:
    noise = torch.empty_like(x).normal_(mean=0.0, std=0.1)
    kept = torch.bernoulli(torch.full_like(x, 0.9))
    return (x + noise) * kept


def main() -> None:
    torch.manual_seed(0)
    centers = torch.randn(8, 16)
    encoder = Encoder()
    start = copy.deepcopy(encoder)
    average = AveragedModel(encoder, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    scaler = torch.amp.GradScaler(enabled=False)
    first = last = 0.0
    for step in range(60):
        x = centers[torch.randperm(8)] + 0.1 * torch.randn(8, 16)
        with torch.autocast("cpu", enabled=False):
            loss = info_nce(encoder(augment(x)), encoder(augment(x)))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        average.update_parameters(encoder)
        last = loss.item()
        first = first or last
    average.eval()
    start.eval()
    with torch.no_grad():
        same = F.cosine_similarity(average(centers), average(centers + 0.1 * torch.randn_like(centers))).mean()
        moved = sum((p - q).pow(2).sum() for p, q in zip(encoder.parameters(), start.parameters())) ** 0.5
    print(f"loss {first:.3f} to {last:.3f}, same {same.item():.3f}, moved {float(moved):.2f}")


if __name__ == "__main__":
    main()
