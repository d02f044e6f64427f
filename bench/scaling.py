#!/usr/bin/env python3
"""scaling.py MEASURED.json… [--out docs/results/scaling]: predicts how training scales to many ranks.

Reads what crisol_dist_bench printed, one file for each model, and writes a table (Markdown) and a plot (SVG). The model:

  compute    A rank computes its own batch. When each gradient is complete is measured, on one device.
  buckets    Gradients are cut into buckets as DataParallel does. A bucket's sum starts when the bucket is complete and
             the bucket before it is summed.
  sum        N ranks sum S bytes in two rounds. In each round a rank sends N - 1 messages of S / N bytes:
             t(S, N) = 2 ((N - 1) o + a + (N - 1) / N S / b) + S / f
             a: latency of a message. b: bandwidth of a rank. o: time of the processor for a message.
             f: the bandwidth at which a rank adds its part.
  step       The end of the last sum, or the end of backward if that is later, plus the rest of the step.
"""

import argparse
import json
import pathlib

RANKS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
# Networks: latency in s, bandwidth in bytes/s, time of the processor for a message in s. The first is Ethernet with TCP,
# the second InfiniBand or RoCE. MPI reaches about nine tenths of the line's bandwidth.
NETWORKS = {
    "25 Gbit/s": (20e-6, 0.9 * 25e9 / 8, 4e-6),
    "200 Gbit/s": (2e-6, 0.9 * 200e9 / 8, 0.5e-6),
}
ADD = 8e9  # Bytes/s: reads and adds what came from the other ranks.
FIRST_BUCKET, BUCKET = 1 << 20, 25 << 20
COLOURS = ["#3465a4", "#f57900", "#73a946", "#75507b"]


def buckets(gradients):
    """(bytes, time of completion in s) of each bucket. `gradients` is in the order of completion."""
    made, size, ready = [], 0, 0.0
    for bytes_, ms in gradients:
        limit = BUCKET if made else FIRST_BUCKET
        if size and size + bytes_ > limit:
            made.append((size, ready))
            size = 0
        size += bytes_
        ready = max(ready, ms / 1e3)
    return made + [(size, ready)]


def sum_seconds(size, ranks, network):
    if ranks == 1:
        return 0.0
    latency, bandwidth, message = network
    one_round = (ranks - 1) * message + latency + (ranks - 1) / ranks * size / bandwidth
    return 2 * one_round + size / ADD


def step_seconds(measured, ranks, network, speed=1.0):
    """A step of a device that is `speed` times as fast as the measured one."""
    local = measured["local_ms"] / 1e3 / speed
    end, backward = 0.0, 0.0
    for size, ready in buckets(measured["gradients"]):
        backward = max(backward, ready / speed)
        end = max(end, ready / speed) + sum_seconds(size, ranks, network)
    return max(local, end + max(local - backward, 0.0))


def efficiency(measured, ranks, network, speed):
    return step_seconds(measured, 1, network, speed) / step_seconds(measured, ranks, network, speed)


def table(measurements, speed):
    lines = ["| model | network | " + " | ".join(str(r) for r in RANKS) + " |", "|---|---|" + "---|" * len(RANKS)]
    for measured in measurements:
        for name, network in NETWORKS.items():
            row = [f"{efficiency(measured, r, network, speed):.2f}" for r in RANKS]
            lines.append(f"| {measured['model']} | {name} | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def plot(measurements, speed):
    left, top, width, height = 60, 60, 560, 300
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 20}" height="{top + height + 90}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        '<text x="12" y="22" font-size="15" font-weight="bold">Predicted efficiency by number of ranks</text>',
        f'<text x="12" y="42" fill="#555">1 is linear scaling; a device {speed:g} times as fast as the measured one</text>',
    ]
    x_of = lambda i: left + width * i / (len(RANKS) - 1)
    y_of = lambda value: top + height * (1 - value)
    for tenth in range(0, 11, 2):
        y = y_of(tenth / 10)
        out.append(f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>')
    for i, ranks in enumerate(RANKS):
        out.append(f'<text x="{x_of(i):.1f}" y="{top + height + 18}" text-anchor="middle">{ranks}</text>')
    for m, measured in enumerate(measurements):
        for n, (name, network) in enumerate(NETWORKS.items()):
            points = " ".join(
                f"{x_of(i):.1f},{y_of(efficiency(measured, r, network, speed)):.1f}" for i, r in enumerate(RANKS)
            )
            dash = "" if n else ' stroke-dasharray="5 4"'
            out.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[m % 4]}" stroke-width="2"{dash}/>')
            x, y = left + 190 * m, top + height + 44 + 18 * n
            out.append(f'<line x1="{x}" x2="{x + 26}" y1="{y - 4}" y2="{y - 4}" stroke="{COLOURS[m % 4]}" stroke-width="2"{dash}/>')
            out.append(f'<text x="{x + 32}" y="{y}">{measured["model"]}, {name}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", nargs="+", help="what crisol_dist_bench printed on one rank")
    parser.add_argument("--speed", type=float, default=1.0, help="how many times as fast the predicted device is")
    parser.add_argument("--out", help="writes OUT.svg beside the printed table")
    arguments = parser.parse_args()
    measurements = [json.loads(pathlib.Path(path).read_text()) for path in arguments.measured]
    print(table(measurements, arguments.speed), end="")
    if arguments.out:
        pathlib.Path(arguments.out + ".svg").write_text(plot(measurements, arguments.speed))


if __name__ == "__main__":
    main()
