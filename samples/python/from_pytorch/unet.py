"""A U-Net that marks discs in images, as a PyTorch program: only the imports name crisol."""

import crisol as torch
import crisol.nn as nn
import crisol.nn.functional as F


class DoubleConv(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(inputs, outputs, kernel_size=3, padding=1, padding_mode="reflect", bias=False),
            nn.GroupNorm(4, outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, kernel_size=3, padding=1),
            nn.PReLU(outputs),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.double_conv(x)
        return y


class Up(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(inputs, inputs // 2, kernel_size=2, stride=2)
        self.conv = DoubleConv(inputs, outputs)

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        x1 = self.up(x1)
        dy, dx = x2.size(2) - x1.size(2), x2.size(3) - x1.size(3)
        x1 = F.pad(x1, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        y: torch.Tensor = self.conv(torch.cat([x2, x1], dim=1))
        return y


class UNet(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.inc = DoubleConv(1, width)
        self.down1 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(width, 2 * width))
        self.down2 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(2 * width, 4 * width))
        self.up1, self.up2 = Up(4 * width, 2 * width), Up(2 * width, width)
        self.outc = nn.Conv2d(width, 1, kernel_size=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        y: torch.Tensor = self.outc(self.up2(self.up1(x3, x2), x1))
        return y


def discs(count: int, size: int = 18) -> tuple[torch.Tensor, torch.Tensor]:
    axis = torch.arange(size, dtype=torch.float32)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    centers = torch.rand(count, 2, 1, 1) * (size - 8) + 4
    masks = ((yy - centers[:, 0]) ** 2 + (xx - centers[:, 1]) ** 2 < 9).float().unsqueeze(1)
    return masks + 0.3 * torch.randn_like(masks), masks


def dice_loss(logits: torch.Tensor, target: torch.Tensor, eps: float = 1.0) -> torch.Tensor:
    p = torch.sigmoid(logits)
    overlap = (p * target).sum(dim=(1, 2, 3))
    return 1 - ((2 * overlap + eps) / (p.sum((1, 2, 3)) + target.sum((1, 2, 3)) + eps)).mean()


def main() -> None:
    torch.manual_seed(0)
    model = UNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, amsgrad=True)
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([3.0]))
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=1e-2, total_steps=30, anneal_strategy="linear", three_phase=True
    )
    for step in range(30):
        images, masks = discs(8)
        logits = model(images)
        loss = criterion(logits, masks) + dice_loss(logits, masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    model.eval()
    with torch.inference_mode():
        images, masks = discs(16)
        found = model(images) > 0
        truth = masks.bool()
        iou = (found & truth).sum().float() / (found | truth).sum().clamp(min=1)
    print(f"iou {iou.item():.3f}")


if __name__ == "__main__":
    main()
