"""Sequences of several lengths in recurrent layers, and one sequence without a batch."""

import crisol
import numpy as np
import pytest
from crisol import nn
from crisol.nn.utils.rnn import (
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)
from numeric import array_of, assert_close

RNG = np.random.default_rng(5)
PARTS = [RNG.normal(size=(n, 3)).astype(np.float32) for n in (2, 4, 1)]


def tensors():
    return [crisol.asarray(part) for part in PARTS]


def test_pad_sequence():
    x = pad_sequence(tensors(), batch_first=True, padding_value=-1.0)
    assert x.shape == (3, 4, 3)
    for i, part in enumerate(PARTS):
        assert_close(x[i, : len(part)], part)
        assert (array_of(x)[i, len(part) :] == -1).all()
    assert_close(pad_sequence(tensors()), np.where(array_of(x) == -1, 0, array_of(x)).transpose(1, 0, 2))
    left = array_of(pad_sequence(tensors(), True, padding_side="left"))
    assert (left[0, :2] == 0).all()
    assert_close(left[0, 2:], PARTS[0])
    for found, part in zip(unpad_sequence(x, crisol.asarray([2, 4, 1]), True), PARTS):
        assert_close(found, part)


def test_packed_order():
    packed = pack_sequence(tensors(), enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    assert packed.sorted_indices.tolist() == [1, 0, 2] and packed.unsorted_indices.tolist() == [1, 0, 2]
    wanted = [PARTS[1][0], PARTS[0][0], PARTS[2][0], PARTS[1][1], PARTS[0][1], PARTS[1][2], PARTS[1][3]]
    assert_close(packed.data, np.stack(wanted))
    for found, part in zip(unpack_sequence(packed), PARTS):
        assert_close(found, part)
    x, lengths = pad_packed_sequence(packed, total_length=5)
    assert x.shape == (5, 3, 3) and lengths.tolist() == [2, 4, 1]


def test_packed_errors():
    x = pad_sequence(tensors())
    with pytest.raises(crisol.InvalidArgumentError, match="rise"):
        pack_padded_sequence(x, [2, 4, 1])
    with pytest.raises(crisol.InvalidArgumentError, match="lengths"):
        pack_padded_sequence(x, [5, 4, 1])
    with pytest.raises(crisol.InvalidArgumentError, match="total_length"):
        pad_packed_sequence(pack_padded_sequence(x, [4, 4, 1]), total_length=3)


@pytest.mark.parametrize("cls", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize("batch_first", [False, True])
def test_packed_sequences_are_like_single_ones(cls, batch_first):
    layer = cls(3, 4, num_layers=2, batch_first=batch_first, bidirectional=True)
    layer.flatten_parameters()
    packed, state = layer(pack_sequence(tensors(), enforce_sorted=False))
    for i, (found, part) in enumerate(zip(unpack_sequence(packed), tensors())):
        y, h = layer(part)  # Without a batch.
        assert_close(found, y)
        for whole, one in zip(state if isinstance(state, tuple) else [state], h if isinstance(h, tuple) else [h]):
            assert_close(whole[:, i], one)


def test_packed_gradients():
    layer = nn.LSTM(3, 4)
    xs = [x.requires_grad_() for x in tensors()]
    packed, _ = layer(pack_sequence(xs, enforce_sorted=False))
    crisol.square(packed.data).sum().backward()
    one = crisol.asarray(PARTS[0]).requires_grad_()
    crisol.square(layer(one)[0]).sum().backward()
    assert_close(xs[0].grad, one.grad)


@pytest.mark.parametrize("cls", [nn.RNNCell, nn.GRUCell, nn.LSTMCell])
def test_a_cell_without_a_batch(cls):
    cell = cls(3, 4)
    x = crisol.asarray(PARTS[0])
    whole, one = cell(x), cell(x[0])
    assert_close(one[0] if isinstance(one, tuple) else one, whole[0][0] if isinstance(whole, tuple) else whole[0])
    assert (one[0] if isinstance(one, tuple) else one).shape == (4,)
    again = cell(x[1], one)
    assert (again[0] if isinstance(again, tuple) else again).shape == (4,)
