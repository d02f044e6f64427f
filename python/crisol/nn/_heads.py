"""Attention of several heads as a function."""

from __future__ import annotations

from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, _functional

__all__ = ["multi_head_attention_forward"]


def _added(mask: Tensor | None, other: Tensor | None, dtype: Any) -> Tensor | None:
    """Both masks as numbers that are added to scores. True leaves a score out."""
    first, second = (
        m if m is None or m.dtype is not _c.bool else _c.where(m, float("-inf"), 0.0).to(dtype) for m in (mask, other)
    )
    return second if first is None else first if second is None else first + second


def _widened(mask: Tensor | None, more: int) -> Tensor | None:
    """A mask with places for more keys, which are used."""
    if mask is None or more == 0:
        return mask
    return _c.concat([mask, _c.zeros((*mask.shape[:-1], more), dtype=mask.dtype, device=mask.device)], axis=-1)


def _longer(x: Tensor, last: Tensor | None, zeros: bool) -> Tensor:
    """Appends to keys or values (N, S, E) the entry `last`, the same for all sequences, and with `zeros` a zero."""
    batch, _, n = x.shape
    parts = [x] if last is None else [x, last.reshape((1, 1, n)).expand((batch, 1, n))]
    if zeros:
        parts.append(_c.zeros((batch, 1, n), dtype=x.dtype, device=x.device))
    return x if len(parts) == 1 else _c.concat(parts, axis=1)


def attend(
    query: Tensor, key: Tensor, value: Tensor, heads: int, mask: Tensor | None, dropout: float, need_weights: bool
) -> tuple[Tensor, Tensor | None]:
    """The joined heads (N, L, E) of projected inputs (N, length, E), and the weights (N, heads, L, S)."""
    batch, length, n = query.shape
    q, k, v = (x.reshape((batch, x.shape[1], heads, n // heads)).transpose(1, 2) for x in (query, key, value))
    weights = None
    if need_weights:
        scores = q @ k.mT * (n // heads) ** -0.5
        weights = _c.softmax(scores if mask is None else scores + mask, -1)
        y = _functional.dropout(weights, dropout, dropout > 0) @ v
    else:
        if mask is not None and mask.ndim == 4 and mask.shape[2] == 1:
            mask = mask.expand((batch, mask.shape[1], length, mask.shape[3]))
        y = _functional.scaled_dot_product_attention(q, k, v, mask, dropout)
    return y.transpose(1, 2).reshape((batch, length, n)), weights


def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True,
    key_padding_mask: Tensor | None = None, need_weights: bool = True, attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """The result and the weights of nn.MultiheadAttention, for queries (L, N, E), keys and values (S, N, …)."""
    if static_k is not None or static_v is not None:
        raise _c.InvalidArgumentError("[multi_head_attention_forward] static_k and static_v are not there")
    batched, n = query.ndim == 3, embed_dim_to_check
    inputs = [x.transpose(0, 1) if batched else x.unsqueeze(0) for x in (query, key, value)]
    weights = [q_proj_weight, k_proj_weight, v_proj_weight]
    if not use_separate_proj_weight and in_proj_weight is not None:
        weights = [in_proj_weight[i * n : (i + 1) * n] for i in range(3)]
    biases = [None if in_proj_bias is None else in_proj_bias[i * n : (i + 1) * n] for i in range(3)]
    q, k, v = (_functional.linear(x, w, b) for x, w, b in zip(inputs, weights, biases))
    batch, length, given = q.shape[0], q.shape[1], k.shape[1]
    k, v = _longer(k, bias_k, add_zero_attn), _longer(v, bias_v, add_zero_attn)
    attn_mask, key_padding_mask = (_widened(m, k.shape[1] - given) for m in (attn_mask, key_padding_mask))
    if attn_mask is not None and attn_mask.ndim == 3:
        attn_mask = attn_mask.reshape((batch, num_heads, length, k.shape[1]))
    padding = None if key_padding_mask is None else key_padding_mask.reshape((batch, 1, 1, k.shape[1]))
    mask = _added(attn_mask, padding, q.dtype)
    joined, shares = attend(q, k, v, num_heads, mask, dropout_p if training else 0.0, need_weights)
    result = _functional.linear(joined, out_proj_weight, out_proj_bias)
    if shares is not None and average_attn_weights:
        shares = _c.mean(shares, 1)
    if not batched:
        return result.squeeze(0), None if shares is None else shares.squeeze(0)
    return result.transpose(0, 1), shares
