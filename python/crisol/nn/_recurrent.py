"""What recurrent layers take besides a batch of sequences: packed sequences, and one sequence without a batch."""

from __future__ import annotations

from abc import ABC
from typing import Any

from .._crisol import Tensor, _nn
from .utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence


__all__ = ["RNNBase", "RNNCellBase"]


class RNNBase(ABC):
    """RNN, LSTM and GRU, for isinstance()."""


class RNNCellBase(ABC):
    """RNNCell, LSTMCell and GRUCell, for isinstance()."""


def _each(state: Any, function: Any) -> Any:
    """A state with each of its tensors changed: h, (h, c) or None."""
    if state is None or isinstance(state, Tensor):
        return None if state is None else function(state)
    return tuple(function(part) for part in state)


def _install_network(cls: Any) -> None:
    plain = cls.forward

    def packed(self: Any, input: PackedSequence, hx: Any) -> Any:
        x, lengths = pad_packed_sequence(input, self.batch_first)
        y, state = plain(self, x, hx, lengths)
        repacked = pack_padded_sequence(y, lengths, self.batch_first, input.unsorted_indices is None)
        return input._replace(data=repacked.data), state

    def forward(self: Any, input: Any, hx: Any = None, lengths: Any = None) -> Any:
        if isinstance(input, PackedSequence):
            return packed(self, input, hx)
        if input.ndim != 2:
            return plain(self, input, hx, lengths)
        axis = 0 if self.batch_first else 1
        y, state = plain(self, input.unsqueeze(axis), _each(hx, lambda part: part.unsqueeze(1)), lengths)
        return y.squeeze(axis), _each(state, lambda part: part.squeeze(1))

    forward.__doc__ = plain.__doc__
    cls.forward = forward


def _install_cell(cls: Any) -> None:
    plain = cls.forward

    def forward(self: Any, input: Tensor, hx: Any = None) -> Any:
        if input.ndim != 1:
            return plain(self, input, hx)
        state = plain(self, input.unsqueeze(0), _each(hx, lambda part: part.unsqueeze(0)))
        return _each(state, lambda part: part.squeeze(0))

    forward.__doc__ = plain.__doc__
    cls.forward = forward


def _flatten_parameters(self) -> None:
    """Has no effect: the library lays the weights out itself."""


def _all_weights(self) -> list[list[_nn.Parameter]]:
    """The parameters of each layer and direction."""
    found: dict[str, list[_nn.Parameter]] = {}
    for name, parameter in self.named_parameters():
        found.setdefault(name[name.rindex("_l") :], []).append(parameter)
    return list(found.values())


for _class in (_nn.RNN, _nn.LSTM, _nn.GRU):
    _install_network(_class)
    _class.all_weights = property(_all_weights)
    RNNBase.register(_class)
for _class in (_nn.RNNCell, _nn.LSTMCell, _nn.GRUCell):
    _install_cell(_class)
    RNNCellBase.register(_class)
_nn.RNN.flatten_parameters = _flatten_parameters
_nn.LSTM.flatten_parameters = _flatten_parameters
_nn.GRU.flatten_parameters = _flatten_parameters
