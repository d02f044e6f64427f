"""Modules that several tests use."""

import crisol
from crisol import nn


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.scale = nn.Parameter(crisol.ones(size))
        self.register_buffer("count", crisol.zeros(1))
        self.note = "text"

    def forward(self, x, factor=1.0):
        self.count = self.count + 1
        return self.linear(x) * self.scale * factor


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(3), Block(3)])
        self.head = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 2, bias=False))

    def forward(self, x):
        for block in self.blocks:
            x = block(x, factor=2.0)
        return self.head(x)
