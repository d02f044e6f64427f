"""nn.Transformer against values of PyTorch 2.15, whose parameters have the same names and order."""

import crisol
import numpy as np
import pytest
from crisol import nn
from numeric import array_of

AFTER = [0.489, 0.3429, 1.02774, 0.42247, 0.49182, 0.34862, 1.02605, 0.42152]
AFTER += [0.48204, 0.32925, 1.03078, 0.4249, 0.48537, 0.33561, 1.02917, 0.42432]
FIRST = [0.5278, 0.72387, 0.75572, -0.01869, 0.48055, 0.3385, 0.61674, 0.83925]
FIRST += [0.1631, 0.60013, 0.21458, -0.50045, 0.54841, 0.53414, 0.91986, 0.31738]


def waves(f, shape, step=1.0, start=0.0):
    return f(crisol.arange(int(np.prod(shape)), dtype=crisol.float32) * step + start).reshape(shape)


@pytest.mark.parametrize("norm_first, wanted", [(False, AFTER), (True, FIRST)])
def test_transformer(norm_first, wanted):
    model = nn.Transformer(4, 2, 1, 2, 6, 0.0, "gelu", batch_first=True, norm_first=norm_first)
    with crisol.no_grad():
        for number, p in enumerate(model.parameters()):
            p.copy_(waves(crisol.sin, p.shape, 0.7, number) * 0.5)
    source, target = waves(crisol.cos, (2, 3, 4)), waves(crisol.sin, (2, 2, 4))
    padding = crisol.tensor([[False, False, True], [False, False, False]])
    mask = nn.Transformer.generate_square_subsequent_mask(2)
    got = model(source, target, tgt_mask=mask, src_key_padding_mask=padding, memory_key_padding_mask=padding)
    np.testing.assert_allclose(array_of(got.detach()).reshape(-1), wanted, atol=2e-5)
    got.sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    names = list(model.state_dict())
    assert len(names) == 52 and "decoder.layers.1.multihead_attn.in_proj_weight" in names


def test_activation_of_another_name():
    with pytest.raises(crisol.Error, match=r"\[TransformerDecoderLayer\] activation is 'tanh'"):
        nn.TransformerDecoderLayer(4, 2, activation="tanh")
