#!/usr/bin/env python3
"""Writes torchvision_states.h: names and shapes of torchvision's state dicts, and logits of networks. The networks'
weights come from a formula, and models_test.cpp uses the same formula. This script needs torch and torchvision; the
tests do not.

    python3 -m venv VENV && VENV/bin/pip install torch torchvision
    VENV/bin/python tests/nn/make_torchvision_states.py
"""

import math
import pathlib

import numpy
import torch
import torchvision

NETWORKS = {
    "alexnet": (1, 3, 64, 64),
    "resnet18": (2, 3, 32, 32),
    "vgg16": (1, 3, 32, 32),
    "mobilenet_v2": (2, 3, 32, 32),
}
LOGITS = range(0, 1000, 125)


def uniform(name, count):
    """Values in [-0.5, 0.5) from a hash of the name (FNV-1a) and the position. Any language gives the same bits."""
    seed = 2166136261
    for letter in name.encode():
        seed = (seed ^ letter) * 16777619 % 2**32
    h = numpy.arange(count, dtype=numpy.uint32) * numpy.uint32(2654435761) + numpy.uint32(seed)
    h ^= h >> numpy.uint32(15)
    h *= numpy.uint32(2246822519)
    h ^= h >> numpy.uint32(13)
    return (h >> numpy.uint32(8)).astype(numpy.float64) / 2**24 - 0.5


def values(name, shape):
    u = uniform(name, math.prod(shape))
    if len(shape) >= 2:
        u *= math.sqrt(24.0 / math.prod(shape[1:]))
    elif name.endswith("running_var") or (name.endswith("weight") and len(shape) == 1):
        u = 1 + 0.5 * u
    else:
        u *= 0.2
    return torch.from_numpy(u.astype(numpy.float32)).reshape(shape)


def network(name, image):
    model = getattr(torchvision.models, name)().eval().double()
    lines = []
    state = {}
    for key, tensor in model.state_dict().items():
        lines.append(key + "".join(f" {size}" for size in tensor.shape))
        if tensor.is_floating_point():
            state[key] = values(key, tensor.shape).double()
        else:
            state[key] = tensor
    model.load_state_dict(state)
    x = 4 * torch.from_numpy(uniform("input", math.prod(image)).astype(numpy.float32)).double().reshape(image)
    with torch.no_grad():
        logits = model(x)[-1]
    names = "\n".join(lines)
    fields = [
        str(sum(p.numel() for p in model.parameters())),
        f"{{{', '.join(map(str, image))}}}",
        "{" + ", ".join(repr(float(logits[i])) for i in LOGITS) + "}",
        repr(float(logits.abs().max())),
        'R"(' + "\n".join(lines) + ')"',
    ]
    return f"inline constexpr TorchvisionNetwork {name}{{" + ",\n    ".join(fields) + "};\n"


def main():
    text = """// Made by make_torchvision_states.py; not to be changed by hand.
#pragma once

#include <cstdint>

namespace crisol::testing {

/// A network of torchvision: its parameters' elements, an input's shape, logits 0, 125, 250 … of the last image of the input and the largest of
/// all, in double, with the weights of models_test.cpp; and a line for each entry of its state dict: name and sizes.
struct TorchvisionNetwork {
  std::int64_t parameters;
  std::int64_t image[4];
  double logits[8];
  double largest;
  const char* state;
};

"""
    text += "\n".join(network(name, image) for name, image in NETWORKS.items())
    text += "\n}  // namespace crisol::testing\n"
    (pathlib.Path(__file__).parent / "torchvision_states.h").write_text(text)


if __name__ == "__main__":
    main()
