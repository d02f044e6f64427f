"""Trains a small network on MNIST's digits, or on rendered digits, and shows how well it does."""

import argparse
import time

import crisol
import digits
from crisol import data, nn
from crisol.nn import functional as F


class Net(nn.Module):
    """Two convolutions and two linear layers: images (N, 1, 28, 28) give logits (N, 10)."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc1 = nn.Linear(64 * 7 * 7, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def load(args):
    """The data sets for training and for the test."""
    if args.data:
        return [data.MNIST(args.data, train=train, mean=0.1307, std=0.3081) for train in (True, False)]
    parts = digits.render(args.digits, seed=1), digits.render(max(10, args.digits // 5), seed=2)
    return [data.TensorDataset(crisol.asarray(x), crisol.asarray(y)) for x, y in parts]


@crisol.no_grad()
def accuracy(net, loader):
    net.eval()
    right = sum(crisol.sum(crisol.argmax(net(x), axis=1) == y) for x, y in loader)
    net.train()
    return int(right) / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with MNIST's files; without it, digits are rendered")
    parser.add_argument("--digits", type=int, default=10_000, help="rendered digits (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=3, help="passes over the images (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=64, help="images in a step (default: %(default)s)")
    parser.add_argument("--lr", type=float, default=2e-3, help="highest learning rate (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of weights and order (default: %(default)s)")
    parser.add_argument("--out", help="file for the trained weights, in the safetensors format")
    args = parser.parse_args()

    crisol.manual_seed(args.seed)
    train, test = load(args)
    loader = data.DataLoader(train, args.batch, shuffle=True, seed=args.seed)
    test_loader = data.DataLoader(test, 500)
    net = Net()
    print(net, "on", crisol.device())
    optimizer = crisol.optim.Adam(net.parameters(), lr=args.lr)
    schedule = crisol.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, epochs=args.epochs, steps_per_epoch=len(loader))
    for epoch in range(1, args.epochs + 1):
        start, losses = time.perf_counter(), 0
        for images, labels in loader:
            loss = F.cross_entropy(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses = losses + loss.detach()
        loss = losses.item() / len(loader)
        speed = len(train) / (time.perf_counter() - start)
        print(f"epoch {epoch}: loss {loss:.4f}, {speed:,.0f} images/s, test {accuracy(net, test_loader):.2%}")
    if args.out:
        crisol.save(net.state_dict(), args.out)


if __name__ == "__main__":
    main()
