#!/usr/bin/env python3
"""Memory of a training step, by a formula and as measured. Writes JSON: docs/results/memory.json.

    bench/memory_formula.py [--crisol build/bin/crisol] [--output FILE]

Formula, in bytes, for N images, Adam and fp32:

    16 P + 4 p + 4 N (A + 2 a)

P: the number of all parameters. Each has a value, a gradient and two moments.
p: the size of the largest parameter. It is counted once more: packed for a product, or its gradient before it is added.
A: the numbers kept of an image for backward: the input, and the output of every convolution, norm, linear layer and
pooling. Max pooling also keeps as many indices.
a: the largest part of A. It is counted twice, for gradients.
"""

import argparse
import datetime
import json
import math
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Count:
    """Follows an image of (channels, size, size) through the layers of a network."""

    def __init__(self, channels, size):
        self.channels, self.size = channels, size
        self.parameters, self.kept = [], [channels * size * size]

    def conv(self, outputs, kernel, stride=1, padding=0, bias=True, norm=False, groups=1):
        self.parameters += [outputs * self.channels // groups * kernel * kernel] + [outputs] * bias
        self.channels, self.size = outputs, (self.size + 2 * padding - kernel) // stride + 1
        self.keep(2 if norm else 1)
        self.parameters += [outputs, outputs] * norm
        return self

    def max_pool(self, kernel, stride, padding=0):
        self.size = (self.size + 2 * padding - kernel) // stride + 1
        return self.keep(2)  # Maxima and their positions.

    def average(self):
        self.size = 1
        return self.keep(1)

    def linear(self, *outputs):
        inputs = self.channels * self.size**2
        for output in outputs:
            self.parameters += [inputs * output, output]
            self.kept.append(output)
            inputs = output
        return self

    def keep(self, times):
        self.kept += [self.channels * self.size**2] * times
        return self

    def bytes(self, images):
        return (16 * sum(self.parameters) + 4 * max(self.parameters) + 4 * images * (sum(self.kept) + 2 * max(self.kept)))  # fmt: skip


def simplecnn():
    return Count(1, 28).conv(32, 3, 1, 1).max_pool(2, 2).conv(64, 3, 1, 1).max_pool(2, 2).linear(128, 10)


def alexnet():
    net = Count(3, 224).conv(64, 11, 4, 2).max_pool(3, 2).conv(192, 5, 1, 2).max_pool(3, 2)
    return net.conv(384, 3, 1, 1).conv(256, 3, 1, 1).conv(256, 3, 1, 1).max_pool(3, 2).linear(4096, 4096, 1000)


def vgg16():
    net = Count(3, 224)
    for repeat, outputs in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(repeat):
            net.conv(outputs, 3, 1, 1)
        net.max_pool(2, 2)
    return net.linear(4096, 4096, 1000)


def resnet18():
    net = Count(3, 224).conv(64, 7, 2, 3, bias=False, norm=True).max_pool(3, 2, 1)
    for outputs in (64, 128, 256, 512):
        for block in range(2):
            first = outputs > 64 and block == 0
            shortcut = Count(net.channels, net.size)
            net.conv(outputs, 3, 2 if first else 1, 1, bias=False, norm=True).conv(outputs, 3, 1, 1, bias=False, norm=True)
            if first:
                shortcut.conv(outputs, 1, 2, bias=False, norm=True)
                net.parameters += shortcut.parameters
                net.kept += shortcut.kept[1:]
    return net.average().linear(1000)


STEPS = [(simplecnn, 64), (simplecnn, 512), (resnet18, 8), (resnet18, 16), (alexnet, 8), (vgg16, 2)]

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crisol", default=ROOT / "build/bin/crisol")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/results/memory.json")
    options = parser.parse_args()
    rows = []
    for make, images in STEPS:
        net = make()
        case = [f"net={make.__name__}", f"batch={images}", "mode=train"]
        command = [options.crisol, "bench", "net", *case, "--repeat", "1", "--no-peak", "--json"]
        result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        rows.append({"net": make.__name__, "images": images, "parameters": sum(net.parameters), "kept": sum(net.kept),
                     "formula_bytes": net.bytes(images), "measured_bytes": result["peak_bytes"],
                     "platform": result["platform"]})  # fmt: skip
        ratio = rows[-1]["measured_bytes"] / rows[-1]["formula_bytes"]
        print(f"{make.__name__:12} {images:4} formula {net.bytes(images) / 1e6:8.1f} MB, measured / formula {ratio:.2f}")
    worst = max(abs(math.log(row["measured_bytes"] / row["formula_bytes"])) for row in rows)
    print(f"off by at most a factor of {math.exp(worst):.2f}")
    options.output.write_text(json.dumps({"date": datetime.date.today().isoformat(), "steps": rows}, indent=1) + "\n")
