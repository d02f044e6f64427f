"""A detector of one box in each image, as a PyTorch program: only the imports name crisol."""

import crisol as torch
import crisol.nn as nn
import crisol.nn.functional as F


def box_iou(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The overlap of each box of a (N, 4) with each of b (M, 4): (N, M)."""
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    iou: torch.Tensor = inter / (area_a[:, None] + area_b - inter)
    return iou


def nms(boxes: torch.Tensor, scores: torch.Tensor, threshold: float) -> torch.Tensor:
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i)
        if order.numel() == 1:
            break
        iou = box_iou(boxes[i].unsqueeze(0), boxes[order[1:]]).squeeze(0)
        order = order[1:][iou <= threshold]
    return torch.stack(keep)


class Detector(nn.Module):
    def __init__(self, classes: int = 2) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inputs, outputs in ((1, 8), (8, 16), (16, 32)):
            layers += [nn.Conv2d(inputs, outputs, 3, stride=2, padding=1), nn.BatchNorm2d(outputs), nn.SiLU()]
        self.backbone = nn.Sequential(*layers)
        self.neck = nn.Linear(32 * 2 * 2, 32)
        self.box, self.label = nn.Linear(32, 4), nn.Linear(32, classes)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = F.relu(self.neck(torch.flatten(self.backbone(x), start_dim=1)))
        return self.box(x).sigmoid(), self.label(x)


def make_batch(count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    images = 0.1 * torch.randn(count, 1, 16, 16)
    boxes = torch.empty(count, 4)
    labels = torch.randint(high=2, size=(count,))
    corners = torch.randint(0, 8, (count, 2)).tolist()
    for i, (top, left) in enumerate(corners):
        images[i, 0, top : top + 8, left : left + 8] += 1.0 if labels[i] == 0 else -1.0
        boxes[i] = torch.tensor([left, top, left + 8, top + 8], dtype=torch.float32) / 16
    return images, boxes, labels


def main() -> None:
    torch.manual_seed(0)
    model = Detector()
    optimizer = torch.optim.AdamW(
        [{"params": model.backbone.parameters(), "lr": 3e-3}, {"params": model.neck.parameters()},
         {"params": list(model.box.parameters()) + list(model.label.parameters())}],
        lr=5e-3,
    )  # fmt: skip
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=5)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=55)
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, schedulers=[warmup, cosine], milestones=[5])
    for step in range(60):
        images, boxes, labels = make_batch(32)
        found, logits = model(images)
        loss = F.smooth_l1_loss(found, boxes, beta=0.1) * 5 + F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    model.eval()
    with torch.no_grad():
        images, boxes, labels = make_batch(64)
        found, logits = model(images)
        iou = box_iou(found, boxes).diagonal().mean().item()
        correct = (logits.argmax(dim=1) == labels).float().mean().item()
        scores = logits.softmax(-1).amax(dim=-1)
        kept = nms(found, scores, 0.5)
    print(f"iou {iou:.3f} accuracy {correct:.3f} kept {kept.numel()}")


if __name__ == "__main__":
    main()
