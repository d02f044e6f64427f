"""Attention of several heads, and the layers of a transformer's encoder."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from .. import _crisol as _c
from .._crisol import Tensor
from .._crisol._nn import Dropout, LayerNorm, Linear, Module, ModuleList, Parameter
from . import functional as F
from . import init

__all__ = ["MultiheadAttention", "TransformerEncoder", "TransformerEncoderLayer"]


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, under the name that PyTorch prints for the last layer of MultiheadAttention."""


class MultiheadAttention(Module):
    """Attention of several heads: the result of (L, N, E) queries over (S, N, kdim) keys and (S, N, vdim) values, and the
    mean of the heads' weights (N, L, S). With batch_first the batch is the first axis."""

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if embed_dim % num_heads:
            raise _c.InvalidArgumentError(f"[MultiheadAttention] {num_heads} heads do not divide {embed_dim} numbers")
        self.__dict__.update(embed_dim=embed_dim, num_heads=num_heads, head_dim=embed_dim // num_heads, dropout=dropout)
        self.__dict__.update(kdim=kdim or embed_dim, vdim=vdim or embed_dim, batch_first=batch_first)
        self.__dict__["add_zero_attn"] = add_zero_attn

        def weight(*shape: int) -> Parameter:
            made = Parameter(_c.empty(shape, device=device))
            init.xavier_uniform_(made)
            return made

        if self.kdim == self.vdim == embed_dim:
            self.in_proj_weight = weight(3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight = weight(embed_dim, embed_dim)
            self.k_proj_weight = weight(embed_dim, self.kdim)
            self.v_proj_weight = weight(embed_dim, self.vdim)
        self.in_proj_bias = Parameter(_c.zeros(3 * embed_dim, device=device)) if bias else None
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k, self.bias_v = (Parameter(_c.empty((1, 1, embed_dim), device=device)) for _ in range(2))
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias)
        if bias:
            init.zeros_(self.out_proj.bias)
        if device is not None:
            self.to(device)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
        need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """The result and the weights, or None without need_weights. key_padding_mask (N, S) leaves keys out, and attn_mask
        is (L, S) or (N · heads, L, S)."""
        turned = self.batch_first and query.ndim == 3
        if turned:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        separate = {}
        if not hasattr(self, "in_proj_weight"):
            separate = {name: getattr(self, name) for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight")}
        result, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, None if separate else self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight,
            self.out_proj.bias, self.training, key_padding_mask, need_weights, attn_mask, bool(separate), **separate,
            average_attn_weights=average_attn_weights,
        )  # fmt: skip
        return result.transpose(0, 1) if turned else result, weights


def function_of(layer: str, activation: str | Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The activation that an argument of a layer of a transformer names."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise _c.InvalidArgumentError(f"[{layer}] activation is '{activation}', not 'relu' or 'gelu'")
    function: Callable[[Tensor], Tensor] = getattr(F, activation)
    return function


class TransformerEncoderLayer(Module):
    """Attention to the input itself and two linear layers, each with dropout, a sum with its input and a norm."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        function = function_of("TransformerEncoderLayer", activation)
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm1, self.norm2 = (LayerNorm(d_model, layer_norm_eps, bias=bias) for _ in range(2))
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.__dict__.update(norm_first=norm_first, activation=function)
        if device is not None:
            self.to(device)

    def _attended(self, x: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor:
        return self.dropout1(self.self_attn(x, x, x, padding, False, mask)[0])

    def _fed(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """The next representation of the sequence."""
        if self.norm_first:
            x = src + self._attended(self.norm1(src), src_mask, src_key_padding_mask)
            return x + self._fed(self.norm2(x))
        x = self.norm1(src + self._attended(src, src_mask, src_key_padding_mask))
        return self.norm2(x + self._fed(x))


class TransformerEncoder(Module):
    """Copies of a layer, one after another, and a norm behind them if it is given."""

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.__dict__["num_layers"] = num_layers
        self.norm = norm

    def forward(
        self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """The last representation of the sequence."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask)
        return src if self.norm is None else self.norm(src)
