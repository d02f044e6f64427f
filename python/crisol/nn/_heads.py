"""Attention of several heads as a function."""

from __future__ import annotations

from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor, _functional

__all__ = ["multi_head_attention_forward"]


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
    if query.shape[-1] != embed_dim_to_check:
        raise _c.InvalidArgumentError(
            f"[multi_head_attention_forward] a query has {query.shape[-1]} numbers, and {embed_dim_to_check} are expected"
        )
    weights = [None if use_separate_proj_weight else in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight]
    weights += [in_proj_bias, bias_k, bias_v, out_proj_weight, out_proj_bias]
    return _functional._multi_head_attention(
        query, key, value, weights, num_heads, dropout_p if training else 0.0, add_zero_attn, need_weights,
        average_attn_weights, attn_mask, key_padding_mask,
    )  # fmt: skip
