"""A classifier of small images, as a PyTorch program: only the imports name crisol."""

import crisol as torch
import crisol.nn as nn
import crisol.optim as optim
from crisol.utils.data import DataLoader, TensorDataset, random_split


class Net(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, kernel_size=3, padding=1, padding_mode="replicate", bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding="same"),
            nn.GELU(approximate="tanh"),
            nn.AdaptiveAvgPool2d((2, 2)),
        )
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(16 * 2 * 2, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.features(x).flatten(1)
        logits: torch.Tensor = self.head(self.dropout(x))
        return logits


def make_data(count: int) -> TensorDataset:
    """Images of one bright quadrant each, with noise."""
    labels = torch.randint(0, 4, (count,))
    images = 0.3 * torch.randn(count, 1, 8, 8)
    for label in range(4):
        row, column = divmod(label, 2)
        mask = labels == label
        images[mask, :, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += 1.0
    return TensorDataset(images, labels)


@torch.no_grad()
def accuracy(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    correct = total = 0
    for images, labels in loader:
        predicted = model(images).max(1)[1]
        correct += (predicted == labels).sum().item()
        total += labels.size(0)
    return correct / total


def main() -> None:
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train, test = random_split(make_data(600), [500, 100])
    train_loader = DataLoader(train, batch_size=50, shuffle=True, num_workers=0)
    test_loader = DataLoader(test, batch_size=100)
    model = Net(4).to(device)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4, foreach=True)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5, last_epoch=-1)
    for epoch in range(3):
        model.train()
        running = 0.0
        for images, labels in train_loader:
            images, labels = images.to(device, non_blocking=True), labels.to(device)
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            running += loss.item() * images.size(0)
        scheduler.step()
        print(f"epoch {epoch} loss {running / len(train):.3f} lr {scheduler.get_last_lr()[0]:.4f}")
    print(f"accuracy {accuracy(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
