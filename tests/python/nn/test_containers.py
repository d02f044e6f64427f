"""Containers of modules, and how long modules live."""

import gc
import weakref

import crisol
import numpy as np
import pytest
from crisol import nn
from nets import Block
from numeric import tensor


def test_modules_are_freed():
    class Cyclic(nn.Module):
        def __init__(self):
            super().__init__()
            self.child = Block(2)
            self.child.parent_list = [self]
            self.itself = [self]
            self.method = self.forward

        def forward(self, x):
            return self.child(x)

    module = Cyclic()
    module(tensor(np.ones((1, 2))))
    gone = [weakref.ref(module), weakref.ref(module.child), weakref.ref(module.child.linear)]
    del module
    gc.collect()
    assert [reference() for reference in gone] == [None] * 3


def test_children_outlive_python_names():
    layers = nn.Sequential(*[Block(2) for _ in range(3)])
    gc.collect()
    assert layers[1].note == "text" and layers(tensor(np.ones((1, 2)))).shape == (1, 2)
    child = layers[0]
    del layers
    gc.collect()
    assert child(tensor(np.ones((1, 2)))).shape == (1, 2)


def test_containers():
    seq = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
    assert seq.append(nn.Linear(2, 3)) is seq and len(seq) == 3
    assert [type(m).__name__ for m in seq] == ["Linear", "ReLU", "Linear"]
    assert seq[-1].weight.shape == (3, 2) and len(seq[:2]) == 2 and seq[:2][0] is seq[0]
    named = nn.Sequential({"first": nn.Linear(1, 2), "act": nn.ReLU()})
    assert named.first.weight.shape == (2, 1) and named(crisol.ones((1, 1))).shape == (1, 2)
    blocks = nn.ModuleList(nn.Linear(1, 1) for _ in range(2))
    blocks.extend([nn.ReLU()])
    assert [type(m).__name__ for m in blocks] == ["Linear", "Linear", "ReLU"]
    heads = nn.ModuleDict({"a": nn.Linear(1, 2)})
    heads["b"] = nn.ReLU()
    heads["b"] = nn.Tanh()
    heads.update({"c": nn.Identity()})
    assert list(heads) == ["a", "b", "c"] and len(heads) == 3 and "b" in heads and "d" not in heads
    assert isinstance(heads["b"], nn.Tanh) and [k for k, _ in heads.items()] == list(heads.keys())
    assert [type(m).__name__ for m in heads.values()] == ["Linear", "Tanh", "Identity"]
    with pytest.raises(KeyError):
        heads["d"]
    with pytest.raises(crisol.InvalidArgumentError, match="contains"):
        seq.append(nn.Sequential(seq))
    with pytest.raises((TypeError, RuntimeError)):
        nn.Sequential(3)
