"""crisol.nn: modules that are written in Python, their attributes, states and errors."""

import copy

import crisol
import numpy as np
import pytest
from crisol import nn
from nets import Block, Net
from numeric import array_of, assert_close, tensor

NAMES = ["blocks.0.scale", "blocks.0.linear.weight", "blocks.0.linear.bias"]
NAMES += ["blocks.1.scale", "blocks.1.linear.weight", "blocks.1.linear.bias", "head.1.weight"]


def reference(net, x):
    for block in net.blocks:
        weight, bias = array_of(block.linear.weight), array_of(block.linear.bias)
        x = (x @ weight.T + bias) * array_of(block.scale) * 2
    return np.maximum(x, 0) @ array_of(net.head[1].weight).T


def test_forward_and_names():
    net = Net()
    x = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    assert_close(net(tensor(x)), reference(net, x))
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert [name for name, _ in net.named_buffers()] == ["blocks.0.count", "blocks.1.count"]
    assert len(list(net.parameters())) == 7 and len(list(net.buffers())) == 2
    assert [name for name, _ in net.named_children()] == ["blocks", "head"]
    assert [name for name, _ in net.named_modules()] == [
        *["", "blocks", "blocks.0", "blocks.0.linear", "blocks.1", "blocks.1.linear", "head", "head.0", "head.1"]
    ]
    assert list(net.modules())[0] is net and list(net.children())[1] is net.head
    assert net.get_submodule("blocks.1") is net.blocks[1] and net.get_submodule("") is net
    assert net.get_parameter("blocks.0.scale").shares_storage_with(net.blocks[0].scale)
    assert net.get_buffer("blocks.0.count").item() == 1
    assert net.parameter_count() == 2 * (9 + 3 + 3) + 6
    assert next(net.parameters()).device == crisol.device()
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in net.parameters())
    with pytest.raises(AttributeError, match="no module 'c'"):
        net.get_submodule("blocks.c")


def test_attributes():
    net = Net()
    assert net.blocks[0].note == "text" and isinstance(net.blocks[0].scale, nn.Parameter)
    assert net.head[1].bias is None and net.blocks[0].linear.bias.shape == (3,)
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'missing'"):
        net.missing  # noqa: B018
    assert {"blocks", "head", "training", "forward"} <= set(dir(net))
    assert "weight" in dir(net.head[1])
    net.extra = None
    net.extra = nn.Linear(1, 1)
    assert "extra.weight" in net.state_dict()
    with pytest.raises(TypeError, match="or None"):
        net.extra = 3
    net.extra = None
    assert net.extra is None and "extra.weight" not in net.state_dict()
    net.extra = nn.Linear(1, 1)
    del net.extra
    assert not hasattr(net, "extra") and "extra.weight" not in net.state_dict()
    net.plain = 3
    del net.plain
    assert not hasattr(net, "plain")


def test_replaced_module():
    net = Net()
    kept = nn.Linear(3, 5)
    net.head = kept
    assert net.head is kept and net(tensor(np.ones((2, 3)))).shape == (2, 5)
    assert [n for n, _ in net.named_parameters()][-2:] == ["head.weight", "head.bias"]
    net.blocks[1] = nn.Identity()
    assert len(net.blocks) == 2 and isinstance(net.blocks[-1], nn.Identity)
    with pytest.raises(IndexError):
        net.blocks[2]


def test_super_init_is_missing():
    class Forgets(nn.Module):
        def __init__(self):
            self.linear = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match="super"):
        Forgets()


def test_no_forward():
    class Empty(nn.Module):
        pass

    for arguments in ((crisol.ones(1),), (1, 2), ()):
        with pytest.raises(NotImplementedError, match="Empty"):
            Empty()(*arguments)
    with pytest.raises(crisol.InvalidArgumentError, match="no forward"):
        nn.Sequential(Empty())(crisol.ones(1))


def test_tied_parameters():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(5, 3)
            self.out = nn.Linear(3, 5, bias=False)
            self.out.weight = self.embedding.weight

        def forward(self, x):
            return self.out(self.embedding(x))

    net = Tied()
    assert [n for n, _ in net.named_parameters()] == ["embedding.weight"]
    crisol.sum(net(crisol.asarray([1, 2]))).backward()
    assert net.out.weight.grad is not None and net.out.weight.shares_storage_with(net.embedding.weight)
    with pytest.raises(TypeError):
        net.out.weight = crisol.ones((5, 3))
    net.out.weight = nn.Parameter(crisol.ones((2, 3)))  # A parameter of another shape ends the tie.
    assert net.embedding.weight.shape == (5, 3) and net(crisol.asarray([1, 2])).shape == (2, 2)


def test_parameter_of_a_python_module_is_assigned_again():
    block = Block(3)
    new = nn.Parameter(crisol.full(3, 2.0))
    block.scale = new
    assert_close(block.state_dict()["scale"], [2, 2, 2])
    assert [n for n, _ in block.named_parameters()].count("scale") == 1
    optimizer = crisol.optim.SGD(block.parameters(), lr=1.0)
    crisol.sum(block(tensor(np.ones((1, 3))))).backward()
    before = array_of(block.scale)
    optimizer.step()
    assert (array_of(block.scale) != before).any() and (array_of(new) == array_of(block.scale)).all()


def test_state_dict():
    net, other = Net(), Net()
    state = net.state_dict()
    assert set(state) == {*NAMES, "blocks.0.count", "blocks.1.count"}
    assert not any(t.requires_grad for t in state.values())
    assert other.load_state_dict(state) == ([], [])
    x = tensor(np.ones((1, 3)))
    assert (array_of(net(x)) == array_of(other(x))).all()
    state["more"] = state.pop("head.1.weight")
    with pytest.raises(crisol.InvalidArgumentError, match=r"head\.1\.weight"):
        other.load_state_dict(state)
    keys = other.load_state_dict(state, strict=False)
    assert keys.missing_keys == ["head.1.weight"] and keys.unexpected_keys == ["more"]
    state["blocks.0.scale"] = crisol.ones(4)
    with pytest.raises(crisol.InvalidArgumentError, match=r"blocks\.0\.scale"):
        other.load_state_dict(state, strict=False)
    with pytest.raises(TypeError):
        other.load_state_dict({"a": "text"})


def test_modes():
    net = Net()
    assert net.training and net.blocks[0].training
    assert net.eval() is net and not net.training and not net.blocks[0].linear.training
    assert net.train() is net and net.head.training
    assert net.requires_grad_(False) is net and not any(p.requires_grad for p in net.parameters())
    net.requires_grad_()
    crisol.sum(net(tensor(np.ones((1, 3))))).backward()
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    assert net.to(crisol.device()) is net
    seen = []
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    assert seen[-1] == "Net" and seen.count("Linear") == 3


def test_repr():
    class Scaled(Block):
        def extra_repr(self):
            return f"note={self.note}"

    assert "Net(" in repr(Net()) and "(0-1): 2 x Block(\n" in repr(Net())
    assert repr(Scaled(3)).startswith("Scaled(\n  note=text\n  (linear): Linear(")
    assert repr(nn.Linear(2, 3)).startswith("Linear(in_features=2, out_features=3, bias=True)")
    assert "bias=False" in repr(nn.Sequential(nn.Linear(2, 3, bias=False)))
    assert "bias=True" in nn.Linear(2, 3).extra_repr()


def test_subclass_of_a_layer():
    class Doubled(nn.Linear):
        def __init__(self, size):
            super().__init__(size, size)
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return 2 * super().forward(x)

    layer = Doubled(3)
    x = tensor(np.ones((1, 3)))
    plain = array_of(x) @ array_of(layer.weight).T + array_of(layer.bias)
    assert_close(layer(x), 2 * plain)
    assert_close(nn.Sequential(layer)(x), 2 * plain)  # C++ calls Python's forward.
    assert layer.calls == 2 and "Doubled(in_features=3" in repr(layer)


def test_train_in_python_thread():
    import threading

    net = Net()
    errors = []

    def work():
        try:
            for _ in range(20):
                net(tensor(np.ones((2, 3))))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


class WithTable(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", crisol.ones(2), persistent=False)
        self.register_buffer("count", crisol.zeros(1))


def test_buffers_that_are_not_persistent():
    net = nn.Sequential(nn.Linear(1, 1), WithTable())
    assert sorted(net.state_dict()) == ["0.bias", "0.weight", "1.count"]
    assert [name for name, _ in net.named_buffers()] == ["1.table", "1.count"]
    state = {**net.state_dict(), "1.count": crisol.ones(1)}
    net[1].table.fill_(3)
    assert net.load_state_dict(state) == ([], [])
    assert net[1].table.tolist() == [3, 3] and net[1].count.item() == 1
    with pytest.raises(crisol.InvalidArgumentError, match="1.table.*not persistent"):
        net.load_state_dict({**state, "1.table": crisol.zeros(2)})
    assert net.load_state_dict({**state, "1.table": crisol.zeros(2)}, strict=False).unexpected_keys == ["1.table"]
    assert net[1].table.tolist() == [3, 3] and copy.deepcopy(net[1]).table.tolist() == [3, 3]
    assert list(copy.deepcopy(net).state_dict()) == list(net.state_dict())
    net[1].register_buffer("table", crisol.zeros(2))
    assert "1.table" in net.state_dict()
