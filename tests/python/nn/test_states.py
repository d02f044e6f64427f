"""What programs add to the states of modules: hooks, extra states, and methods that read old states."""

import crisol
import pytest
from crisol import nn


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.count = nn.Linear(1, 1), 0

    def get_extra_state(self):
        return {"count": self.count}

    def set_extra_state(self, state):
        self.count = state["count"]


def test_extra_states(tmp_path):
    net, other = nn.Sequential(Counting()), nn.Sequential(Counting())
    net[0].count = 9
    assert set(net.state_dict()) == {"0.layer.weight", "0.layer.bias", "0._extra_state"}
    crisol.save(net.state_dict(), tmp_path / "state")
    assert str(other.load_state_dict(crisol.load(tmp_path / "state"))) == "<All keys matched successfully>"
    assert other[0].count == 9 and other[0].layer.weight.item() == net[0].layer.weight.item()
    state = net.state_dict()
    del state["0._extra_state"]
    with pytest.raises(crisol.InvalidArgumentError, match="missing: 0._extra_state"):
        other.load_state_dict(state)
    assert not other.load_state_dict(state, strict=False).missing_keys
    with pytest.raises(crisol.InvalidArgumentError, match="unexpected: _extra_state"):
        nn.Linear(1, 1).load_state_dict(nn.Linear(1, 1).state_dict() | {"_extra_state": crisol.ones(1)})


def test_a_class_reads_old_states():
    class Renamed(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(crisol.zeros(2))

        def _load_from_state_dict(self, state, prefix, metadata, strict, missing, unexpected, errors):
            if prefix + "old" in state:
                state[prefix + "w"] = state.pop(prefix + "old") * 2
            super()._load_from_state_dict(state, prefix, metadata, strict, missing, unexpected, errors)
            if "wrong" in state:
                errors.append("wrong is wrong")

    net = nn.Sequential(Renamed(), nn.Linear(1, 1, bias=False))
    state = {"0.old": crisol.ones(2), "1.weight": crisol.ones(1, 1)}
    net.load_state_dict(state)
    assert net[0].w.tolist() == [2.0, 2.0] and "0.old" in state
    with pytest.raises(crisol.InvalidArgumentError, match="wrong is wrong"):
        net.load_state_dict(state | {"wrong": crisol.ones(1)})


def test_hooks_of_states():
    net, seen = nn.Sequential(nn.Linear(1, 1, bias=False)), []
    net[0].register_state_dict_pre_hook(lambda module, prefix, keep: seen.append((module is net[0], prefix, keep)))
    handle = net[0].register_state_dict_post_hook(lambda module, state, prefix, _: state.update({prefix + "x": 1}))
    assert set(net.state_dict()) == {"0.weight", "0.x"} and seen == [(True, "0.", False)]
    handle.remove()
    net[0].register_load_state_dict_pre_hook(lambda module, state, prefix, *_: state.pop(prefix + "junk", None))
    given = {"0.weight": crisol.ones(1, 1), "0.junk": crisol.ones(1)}
    assert not net.load_state_dict(given).unexpected_keys and "0.junk" in given
    forgives = net.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    assert not net.load_state_dict({}).missing_keys
    with pytest.raises(crisol.InvalidArgumentError, match="unexpected_keys=\\['other'\\]"):
        net.load_state_dict({"other": crisol.ones(1)})
    forgives.remove()
    with pytest.raises(crisol.InvalidArgumentError, match="missing: 0.weight"):
        net.load_state_dict({})


def test_names_in_a_sequence():
    """As in PyTorch, a slice keeps names, and after a removal all modules have numbers."""
    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1, bias=False))
    assert list(net[1:].state_dict()) == ["2.weight"] and [name for name, _ in net[:2].named_children()] == ["0", "1"]
    named = nn.Sequential({"f": nn.Linear(1, 1), "g": nn.ReLU(), "h": nn.Tanh()})
    assert [name for name, _ in named[1:].named_children()] == ["g", "h"] and named[1:][1] is named.h
    del named[0]
    assert [name for name, _ in named.named_children()] == ["0", "1"] and isinstance(named[1], nn.Tanh)
    layers = nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])
    assert [name for name, _ in layers[1:].named_children()] == ["0", "1"]
