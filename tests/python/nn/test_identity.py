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


def test_states_are_assigned():
    """load_state_dict(assign=True) makes new parameters with the memory and the dtype of the values."""
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    net[0].bias.requires_grad_(False)
    old, mean = net[0].weight, net[1].running_mean
    state = {name: crisol.ones_like(value) for name, value in net.state_dict().items()}
    assert str(net.load_state_dict(state, assign=True)) == "<All keys matched successfully>"
    state["0.weight"][0, 0], state["1.running_mean"][1] = 5.0, 7.0
    assert net[0].weight.tolist() == [[5.0, 1.0], [1.0, 1.0]] and net[1].running_mean.tolist() == [1.0, 7.0]
    assert net.state_dict()["1.running_mean"].tolist() == [1.0, 7.0] and mean.tolist() == [0.0, 0.0]
    assert net[0].weight is not old and old.tolist() != net[0].weight.tolist()
    assert net[0].weight.requires_grad and not net[0].bias.requires_grad
    # running_mean is (1, 7); running_var, weight and bias are 1.
    assert crisol.allclose(net.eval()(crisol.ones(1, 2)), crisol.tensor([[7.0, -3.0]]), atol=1e-3)
    halves = {name: value.half() for name, value in state.items() if name.startswith("0")}
    assert net.load_state_dict(halves, strict=False, assign=True).missing_keys[0] == "1.weight"
    assert net[0].weight.dtype is crisol.float16
    before = net[0].weight
    for wrong in ({"0.weight": crisol.ones(3)}, {"none": crisol.ones(3)}):
        with pytest.raises(crisol.InvalidArgumentError, match="different|unexpected"):
            net.load_state_dict(state | wrong, assign=True)
    assert net[0].weight is before and before.tolist() == [[5.0, 1.0], [1.0, 1.0]]


def test_assigned_states_keep_ties():
    net = nn.ModuleDict({"first": nn.Linear(2, 2), "second": nn.Linear(2, 2)})
    net["second"].weight = net["first"].weight
    net.load_state_dict({"first.weight": crisol.ones(2, 2)}, strict=False, assign=True)
    assert net["second"].weight is net["first"].weight and net["second"].weight.tolist() == [[1.0, 1.0]] * 2
    net.load_state_dict({"second.weight": crisol.zeros(2, 2)}, strict=False, assign=True)
    assert net["second"].weight is net["first"].weight and net["first"].weight.tolist() == [[0.0, 0.0]] * 2


def test_data_of_a_buffer():
    net = nn.Module()
    net.register_buffer("table", crisol.zeros(2))
    layer = nn.BatchNorm1d(2)
    for module, name in ((net, "table"), (layer, "running_mean")):
        buffer = getattr(module, name)
        alias, state, view = buffer.detach(), module.state_dict()[name], buffer[1:]
        buffer.data = crisol.ones(2)
        assert buffer.tolist() == getattr(module, name).tolist() == module.state_dict()[name].tolist() == [1.0, 1.0]
        assert alias.tolist() == state.tolist() == [0.0, 0.0] and view.tolist() == [0.0]
        getattr(module, name).data = crisol.full((2,), 3.0)
        assert module.state_dict()[name].tolist() == [3.0, 3.0] and buffer.dtype is crisol.float32
    assert crisol.allclose(layer.eval()(crisol.full((1, 2), 3.0)), crisol.zeros(1, 2))
    net.table.data = crisol.tensor([1, 2, 3])
    assert net.table.tolist() == [1, 2, 3] and net.state_dict()["table"].dtype is crisol.int64


def test_tied_parameters_under_all_names():
    net = nn.ModuleDict({"first": nn.Linear(2, 2, bias=False), "second": nn.Linear(2, 2, bias=False)})
    net["second"].weight = net["first"].weight
    net["third"] = net["first"]
    names = [name for name, _ in net.named_parameters(remove_duplicate=False)]
    assert names == ["first.weight", "second.weight", "third.weight"]
    assert [name for name, _ in net.named_parameters()] == ["first.weight"]
    assert [name for name, _ in net.named_modules(remove_duplicate=False)] == ["", "first", "second", "third"]
    assert [name for name, _ in net.named_modules()] == ["", "first", "second"]
    layers = nn.ModuleList([nn.BatchNorm1d(1)] * 2)
    assert len(list(layers.named_buffers(remove_duplicate=False))) == 2 * len(list(layers.named_buffers()))
