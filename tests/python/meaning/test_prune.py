"""nn.utils.prune: the elements that PyTorch prunes, names of parameters, gradients, and removal."""

import copy

import crisol
import pytest
from crisol import nn
from crisol.nn.utils import prune


def layer():
    linear = nn.Linear(3, 2)
    linear.weight.data = crisol.tensor([[0.1, -2.0, 3.0], [-0.4, 5.0, 6.0]])
    return linear


def test_smallest_elements_then_rows():
    linear = layer()
    original = linear.weight
    assert prune.l1_unstructured(linear, "weight", amount=2) is linear
    assert linear.weight_mask.tolist() == [[0, 1, 1], [0, 1, 1]] and prune.is_pruned(linear)
    prune.ln_structured(linear, "weight", amount=1, n=2, dim=1)  # Column 0 is pruned already, so column 1 is the next.
    assert linear.weight_mask.tolist() == [[0, 0, 1], [0, 0, 1]]
    assert linear.weight.tolist() == [[0, 0, 3], [0, 0, 6]]
    assert [name for name, _ in linear.named_parameters()] == ["bias", "weight_orig"]
    assert list(linear.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    linear(crisol.ones(1, 3)).sum().backward()
    assert linear.weight_orig.grad.tolist() == [[0, 0, 1], [0, 0, 1]]
    prune.remove(linear, "weight")
    assert linear.weight is original and original.tolist() == [[0, 0, 3], [0, 0, 6]] and not prune.is_pruned(linear)
    assert sorted(linear.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match=r"\[prune.remove\] the parameter 'weight' of Linear is not pruned"):
        prune.remove(linear, "weight")


def test_a_pruned_layer_trains():
    net = nn.Sequential(layer(), nn.ReLU(), nn.Linear(2, 1))
    prune.l1_unstructured(net[0], "weight", amount=0.5)
    optimizer = crisol.optim.SGD(net.parameters(), lr=0.1)
    x = crisol.ones(4, 3)
    for _ in range(2):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    assert (net[0].weight.detach() == 0).tolist() == (net[0].weight_mask == 0).tolist()
    twin = copy.deepcopy(net)
    assert prune.is_pruned(twin) and twin(x).tolist() == net(x).tolist()


def test_all_parameters_together():
    a, b = nn.Linear(2, 2), nn.Linear(2, 1)
    a.weight.data, b.weight.data = crisol.tensor([[1.0, 2.0], [3.0, 4.0]]), crisol.tensor([[0.5, 10.0]])
    prune.global_unstructured([(a, "weight"), (b, "weight")], pruning_method=prune.L1Unstructured, amount=0.5)
    assert a.weight_mask.tolist() == [[0, 0], [1, 1]] and b.weight_mask.tolist() == [[0, 1]]
    prune.custom_from_mask(a, "bias", crisol.tensor([0, 1]))
    assert a.bias_mask.tolist() == [0, 1]


def test_random_and_own_methods():
    linear = nn.Linear(8, 8)
    prune.random_unstructured(linear, "weight", amount=10)
    assert (linear.weight_mask == 0).sum().item() == 10
    prune.random_structured(linear, "weight", amount=0.25, dim=0)
    assert (linear.weight_mask.sum(1) == 0).sum().item() == 2
    prune.identity(linear, "bias")
    assert linear.bias_mask.sum().item() == 8

    class Large(prune.BasePruningMethod):
        def __init__(self, limit):
            self.limit = limit

        def compute_mask(self, t, default_mask):
            return (t.abs() > self.limit).to(default_mask.dtype) * default_mask

    linear = layer()
    Large.apply(linear, "weight", 1.0)
    assert linear.weight_mask.tolist() == [[0, 1, 1], [0, 1, 1]]
    assert Large(4.0).prune(linear.weight_orig).tolist() == [[0, 0, 0], [0, 5, 6]]
    for amount in (1.5, 7):
        with pytest.raises(ValueError, match=f"amount is {amount}"):
            prune.l1_unstructured(layer(), "weight", amount=amount)
