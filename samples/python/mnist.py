"""Trains a small network on MNIST's digits, or on rendered digits, and shows how well it does.

mpirun -n 2 --bind-to none python mnist.py trains on two ranks, each with a device and a part of each batch.
"""

import argparse
import itertools
import os
import time

import crisol
import digits
from crisol import data, nn
from crisol.nn import functional as F


def make_net():
    """Two convolutions and two linear layers: images (N, 1, 28, 28) give logits (N, 10).

    The sequence computes each ReLU in the kernel of the layer before it, which a forward() with F.relu cannot do.
    """
    return nn.Sequential(
        {
            "conv1": nn.Conv2d(1, 32, 3, padding=1),
            "relu1": nn.ReLU(),
            "pool1": nn.MaxPool2d(2),
            "conv2": nn.Conv2d(32, 64, 3, padding=1),
            "relu2": nn.ReLU(),
            "pool2": nn.MaxPool2d(2),
            "flatten": nn.Flatten(),
            "fc1": nn.Linear(64 * 7 * 7, 128),
            "relu3": nn.ReLU(),
            "fc2": nn.Linear(128, 10),
        }
    )


def load(args):
    """The data sets for training and for the test."""
    if args.data:
        return [data.MNIST(args.data, train=train, mean=0.1307, std=0.3081) for train in (True, False)]
    parts = digits.render(args.digits, seed=1), digits.render(max(10, args.digits // 5), seed=2)
    return [data.TensorDataset(crisol.asarray(x), crisol.asarray(y)) for x, y in parts]


class Ranks:
    """The ranks of the run, if mpirun started this program. Otherwise this process is the only one."""

    def __init__(self):
        self.dist = None
        if any(name in os.environ for name in ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")):
            from crisol import distributed as dist

            self.dist = dist
            dist.init()
        self.rank, self.world = (self.dist.rank(), self.dist.world()) if self.dist else (0, 1)

    def loader(self, dataset, order, batch):
        """This rank's parts of the batches. None stands for a part without samples."""
        own = data.ShardedSampler(order, batch, self.rank, self.world)
        loader = data.DataLoader(dataset, own.local_batch_size, sampler=own)
        return lambda: itertools.islice(itertools.chain(loader, itertools.repeat(None)), own.batches)

    def total(self, x):
        """The sum of a tensor over all ranks, as a number."""
        if self.dist:
            self.dist.all_reduce(x)
        return x.item()

    def print(self, *args):
        if self.rank == 0:
            print(*args)

    def finish(self):
        if self.dist:
            self.dist.finish()


@crisol.no_grad()
def accuracy(net, batches, count, ranks):
    net.eval()
    right = crisol.zeros(())
    for images, labels in filter(None, batches()):
        right = right + crisol.sum(crisol.argmax(net(images), axis=1) == labels)
    net.train()
    return ranks.total(right) / count


def train_epoch(net, optimizer, schedule, batches, parallel, scaler):
    """Returns the sum of the losses of this rank's samples."""
    losses = crisol.zeros(())
    for batch in batches():
        optimizer.zero_grad()
        if batch is None:
            parallel.backward_without_samples()
        else:
            images, labels = batch
            if parallel:
                parallel.set_weight(len(images))
            with crisol.autocast("cuda", crisol.float16, enabled=scaler.is_enabled()):
                loss = F.cross_entropy(net(images), labels)
            scaler.scale(loss).backward()
            losses = losses + loss.detach() * len(images)
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with MNIST's files; without it, digits are rendered")
    parser.add_argument("--digits", type=int, default=10_000, help="rendered digits (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=3, help="passes over the images (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=64, help="images in a step (default: %(default)s)")
    parser.add_argument("--lr", type=float, default=2e-3, help="highest learning rate (default: %(default)s)")
    parser.add_argument("--dtype", choices=["f32", "f16"], default="f32", help="f16: mixed precision (default: f32)")
    parser.add_argument("--seed", type=int, default=1, help="of weights and order (default: %(default)s)")
    parser.add_argument("--out", help="file for the trained weights, in the safetensors format")
    args = parser.parse_args()

    ranks = Ranks()
    crisol.manual_seed(args.seed)
    train, test = load(args)
    batches = ranks.loader(train, data.RandomSampler(len(train), args.seed), args.batch)
    test_batches = ranks.loader(test, data.SequentialSampler(len(test)), 500)
    net = make_net()
    ranks.print(net, "on", crisol.device(), *([f"and {ranks.world - 1} more ranks"] if ranks.world > 1 else []))
    optimizer = crisol.optim.Adam(net.parameters(), lr=args.lr)
    steps = -(-len(train) // args.batch)
    schedule = crisol.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, epochs=args.epochs, steps_per_epoch=steps)
    parallel = ranks.dist.DataParallel(net) if ranks.dist else None
    scaler = crisol.amp.GradScaler(enabled=args.dtype == "f16")
    for epoch in range(1, args.epochs + 1):
        start = time.perf_counter()
        loss = ranks.total(train_epoch(net, optimizer, schedule, batches, parallel, scaler)) / len(train)
        speed = len(train) / (time.perf_counter() - start)
        right = accuracy(net, test_batches, len(test), ranks)
        ranks.print(f"epoch {epoch}: loss {loss:.4f}, {speed:,.0f} images/s, test {right:.2%}")
    if args.out and ranks.rank == 0:
        crisol.save(net.state_dict(), args.out)
    ranks.finish()


if __name__ == "__main__":
    main()
