"""A parameter is one Python object, so programs compare parameters with `is` and keep their id."""

import copy
import gc
import pickle
import weakref

import crisol
import pytest
from crisol import nn, optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(crisol.ones(3))
        self.layers = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))


MODELS = [Net, lambda: nn.Linear(2, 3), lambda: nn.LSTM(2, 3), lambda: nn.MultiheadAttention(4, 2), nn.models.SimpleCNN]


@pytest.mark.parametrize("make", MODELS)
def test_each_look_gives_the_same_objects(make):
    net = make()
    numbers = [id(p) for p in net.parameters()]
    gc.collect()
    assert [id(p) for p in net.parameters()] == numbers and len(set(numbers)) == len(numbers)
    groups = {p: name for name, p in net.named_parameters()}
    for name, p in net.named_parameters():
        assert groups[p] == name and net.get_parameter(name) is p
        owner, _, own = name.rpartition(".")
        assert getattr(net.get_submodule(owner), own) is p
    frozen = set(list(net.parameters())[:1])
    assert [p for p in net.parameters() if p not in frozen] == list(net.parameters())[1:]


def test_an_optimiser_has_the_same_objects():
    net = Net()
    rest = [p for p in net.parameters() if p is not net.scale]
    made = optim.AdamW([{"params": [net.scale]}, {"params": rest, "lr": 0.1}])
    assert made.param_groups[0]["params"][0] is net.scale
    assert all(p is q for p, q in zip(made.param_groups[1]["params"], rest, strict=True))
    net.scale.sum().backward()
    made.step()
    assert net.scale in set(made.state) and next(net.parameters()) is net.scale


def test_ties():
    table, head = nn.Embedding(4, 3), nn.Linear(3, 4, bias=False)
    head.weight = table.weight
    both = nn.Sequential(table, head)
    assert head.weight is table.weight and [id(p) for p in both.parameters()] == [id(table.weight)]
    net = Net()
    net.other = net.scale
    assert net.other is net.scale and len(list(net.parameters())) == 5


@pytest.mark.parametrize("owner, name", [(lambda net: net, "scale"), (lambda net: net.layers[0], "bias")])
def test_another_parameter_takes_the_place(owner, name):
    net = Net()
    module, other = owner(net), nn.Parameter(crisol.full(getattr(owner(net), name).shape, 7.0))
    old = getattr(module, name)
    before = old.tolist()
    setattr(module, name, other)
    assert getattr(module, name) is other and any(p is other for p in net.parameters())
    assert old is not other and old.tolist() == before and not any(p is old for p in net.parameters())
    with crisol.no_grad():
        other.zero_()
    assert getattr(module, name).tolist() == [0.0] * other.numel() and old.tolist() == before


def test_conversions_keep_the_object():
    net = nn.Linear(2, 3)
    weight = net.weight
    net.double()
    assert (
        net.weight is weight
        and weight.dtype is crisol.float64
        and net(crisol.ones(1, 2).double()).dtype is weight.dtype
    )
    net.requires_grad_(False).float().requires_grad_()
    assert net.weight is weight and weight.dtype is crisol.float32


def test_copies_are_other_objects():
    net = Net()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        pairs = list(zip(net.parameters(), other.parameters(), strict=True))
        assert len(pairs) == 5 and all(p is not q for p, q in pairs)
        assert other.scale is next(other.parameters()) and other.scale.tolist() == net.scale.tolist()


def test_objects_end_with_their_module():
    net = Net()
    found = [weakref.ref(p) for p in net.parameters()]
    old = weakref.ref(net.layers[0].weight)
    net.layers[0].weight = nn.Parameter(crisol.ones(4, 3))
    list(net.parameters())
    gc.collect()
    assert old() is None
    del net
    gc.collect()
    assert [reference() for reference in found] == [None] * 5


def test_many_parameters():
    kept = nn.Parameter(crisol.ones(1))
    for _ in range(3000):
        nn.Parameter(crisol.ones(0))
    net = nn.Module()
    net.kept = kept
    assert next(net.parameters()) is kept


def test_a_parameter_of_another_shape_takes_the_place():
    net = Net()
    net.tied = net.scale
    old, other = net.scale, nn.Parameter(crisol.zeros(2, 2))
    net.scale = other
    assert net.scale is other and net.tied is old and old.tolist() == [1.0] * 3
    assert [p.shape for p in net.parameters()][0] == (2, 2) and net.state_dict()["scale"].shape == (2, 2)
    layer = net.layers[0]
    before, layer.weight, layer.bias = layer.weight, nn.Parameter(crisol.ones(5, 3)), nn.Parameter(crisol.zeros(5))
    assert layer(crisol.ones(1, 3)).tolist() == [[3.0] * 5] and before.shape == (4, 3)
    layer(crisol.ones(1, 3)).sum().backward()
    assert layer.weight.grad.shape == (5, 3) and layer.weight in set(net.parameters())


def test_data_of_another_shape():
    layer = nn.Linear(3, 4)
    weight = layer.weight
    weight.data, layer.bias.data = crisol.ones(2, 3), crisol.zeros(2)
    assert layer(crisol.ones(1, 3)).tolist() == [[3.0, 3.0]] and layer.weight is weight and weight.shape == (2, 3)
    with pytest.raises(ValueError, match=r"the tensor is crisol.float32 \(2,\)"):
        crisol.ones(2).data = crisol.ones(3)
