"""nn.MultiheadAttention and the encoder of a transformer against NumPy, and other members of modules."""

import crisol
import numpy as np
import pytest
from crisol import nn
from numeric import array_of

RANDOM = np.random.default_rng(2)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def attention(layer, q, k, v, mask):
    """Of (N, L, E), with a mask of scores (N, heads, L, S)."""
    state = {name: array_of(value, np.float64) for name, value in layer.state_dict().items()}
    e, heads = layer.embed_dim, layer.num_heads
    parts = []
    for i, x in enumerate((q, k, v)):
        y = x @ state["in_proj_weight"][i * e : (i + 1) * e].T + state["in_proj_bias"][i * e : (i + 1) * e]
        parts.append(y.reshape(*y.shape[:2], heads, -1).transpose(0, 2, 1, 3))
    q, k, v = parts
    scores = q @ k.swapaxes(2, 3) / np.sqrt(e / heads) + np.where(mask, -np.inf, 0)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    y = (weights @ v).transpose(0, 2, 1, 3).reshape(q.shape[0], -1, e)
    return y @ state["out_proj.weight"].T + state["out_proj.bias"], weights.mean(1)


@pytest.mark.parametrize("batch_first", [False, True])
def test_heads(batch_first):
    layer = nn.MultiheadAttention(8, 2, batch_first=batch_first).eval()
    nn.init.normal_(layer.in_proj_bias)
    x, k, v = normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 8)
    padding, mask = np.zeros((2, 5), bool), np.triu(np.ones((3, 5), bool), 2)
    padding[1, 0] = padding[0, 1] = True
    wanted, weights = attention(layer, x, k, v, mask | padding[:, None, None])
    given = [crisol.asarray(a if batch_first else a.swapaxes(0, 1).copy()) for a in (x, k, v)]
    masks = {"key_padding_mask": crisol.asarray(padding), "attn_mask": crisol.asarray(mask)}
    for need in (True, False):
        y, w = layer(*given, need_weights=need, **masks)
        y = y if batch_first else y.transpose(0, 1)
        np.testing.assert_allclose(array_of(y.detach()), wanted, rtol=1e-4, atol=1e-5)
        assert (w is not None) == need
        if need:
            np.testing.assert_allclose(array_of(w.detach()), weights, rtol=1e-4, atol=1e-6)
    y.sum().backward()
    assert all(p.grad is not None for p in layer.parameters())


def test_other_sizes_of_keys_and_no_batch():
    layer = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, bias=False)
    y, w = layer(crisol.ones(2, 4), crisol.ones(6, 3), crisol.ones(6, 5))
    assert y.shape == (2, 4) and w.shape == (2, 6) and sorted(layer.state_dict())[0] == "k_proj_weight"
    with pytest.raises(ValueError, match="3 heads do not divide 4"):
        nn.MultiheadAttention(4, 3)


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder(norm_first):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=norm_first).eval()
    encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8)).eval()
    x = crisol.asarray(normal(2, 5, 8))

    def step(part, x):
        inner = part.norm1(x) if norm_first else x
        y = x + part.self_attn(inner, inner, inner)[0]
        y = y if norm_first else part.norm1(y)
        fed = part.linear2(part.linear1(part.norm2(y) if norm_first else y).relu())
        return y + fed if norm_first else part.norm2(y + fed)

    wanted = encoder.norm(step(encoder.layers[1], step(encoder.layers[0], x)))
    np.testing.assert_allclose(array_of(encoder(x).detach()), array_of(wanted.detach()), rtol=1e-4, atol=1e-5)
    assert "layers.1.self_attn.in_proj_weight" in encoder.state_dict()


def test_modules_take_the_words_of_pytorch(tmp_path):
    net = nn.Linear(2, 2)
    assert net.to("cpu") is net and net.to(crisol.float32) is net and net.float() is net and net.cpu() is net
    assert net.half() is net and net.weight.dtype is crisol.float16 and net.float().weight.dtype is crisol.float32
    assert crisol.compile(net, fullgraph=True) is net
    path = tmp_path / "net.safetensors"
    crisol.save(net.state_dict(), path)
    assert sorted(crisol.load(path, map_location="cpu", weights_only=True)) == ["bias", "weight"]
    w = crisol.ones(2).requires_grad_()
    crisol.autograd.backward([w * 2, w.sum()], [crisol.ones(2), None])
    assert w.grad.tolist() == [3, 3]
    assert crisol.utils.data.DataLoader is crisol.data.DataLoader
    assert crisol.utils.checkpoint.checkpoint(lambda x: x * 2, w, use_reentrant=False).tolist() == [2, 2]


def test_the_function_is_the_layer():
    layer = nn.MultiheadAttention(4, 2)
    x = crisol.randn(3, 2, 4)
    y, weights = nn.functional.multi_head_attention_forward(
        x, x, x, 4, 2, layer.in_proj_weight, layer.in_proj_bias, None, None, False, 0.0, layer.out_proj.weight,
        layer.out_proj.bias, training=False, average_attn_weights=False,
    )  # fmt: skip
    wanted, shares = layer(x, x, x, average_attn_weights=False)
    np.testing.assert_allclose(y.detach(), wanted.detach(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(weights.detach(), shares.detach(), rtol=1e-5, atol=1e-6)
    with pytest.raises(crisol.InvalidArgumentError, match="static_k"):
        nn.functional.multi_head_attention_forward(
            x, x, x, 4, 2, None, None, None, None, False, 0.0, layer.out_proj.weight, None, static_k=x
        )  # fmt: skip
