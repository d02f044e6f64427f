// Differentiable attention.
#pragma once

#include "crisol/options/attention.h"
#include "crisol/tensor.h"

namespace crisol {

/// softmax(scale · query · keyᵀ + mask) · value, as in PyTorch. query is (…, L, E), key (…, S, E), value (…, S, V), and
/// the result (…, L, V). The leading axes broadcast. All have one floating-point type, and are on one device. f16
/// and bf16 are computed in f32.
///
/// The mask may be undefined. Its shape broadcasts to (…, L, S). A mask of bools says which keys a query sees. A mask
/// of floating-point numbers is added to the scores. A query that sees no key gets zeros.
///
/// With enable_gqa, axis -3 holds heads. query may have a multiple of the heads of key. Neighbouring heads of queries
/// then share a head of keys and values.
///
/// query, key, value and a mask of floating-point numbers have gradients. If nothing is recorded, or the scores would
/// take more than 64 MB, most devices write no scores to memory. The gradient then computes them again.
///
/// Throws invalid_argument, with the shapes, for a rank below 2 and for sizes that do not fit.
CRISOL_API Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                               const Tensor& mask = Tensor(), const AttentionOptions& options = {});

/// The tensors of multi_head_attention, under PyTorch's names.
struct MultiHeadWeights {
  Tensor in_proj_weight = {};   ///< (3 E, E): rows for queries, keys and values. Undefined: the next three weights.
  Tensor q_proj_weight = {};    ///< (E, E)
  Tensor k_proj_weight = {};    ///< (E, kdim)
  Tensor v_proj_weight = {};    ///< (E, vdim)
  Tensor in_proj_bias = {};     ///< (3 E), or undefined.
  Tensor bias_k = {};           ///< E numbers that are appended to the keys of each sequence, or undefined.
  Tensor bias_v = {};           ///< E numbers that are appended to its values, or undefined.
  Tensor out_proj_weight = {};  ///< (E, E)
  Tensor out_proj_bias = {};    ///< (E), or undefined.
};

/// Which keys a query of multi_head_attention sees. A mask of bools leaves out the keys where it is true, as in
/// PyTorch. A mask of floating-point numbers is added to the scores. All that are given count together.
struct AttentionMasks {
  Tensor attn_mask = {};         ///< (L, S) or (N · num_heads, L, S), or undefined.
  Tensor key_padding_mask = {};  ///< (N, S), or (S) for one sequence, or undefined.
  bool is_causal = false;        ///< Query i sees none of the keys behind key i.
};

/// The result of multi_head_attention.
struct MultiHeadResult {
  Tensor output = {};   ///< In the shape of the query.
  Tensor weights = {};  ///< The probabilities (N, L, S), or (N, num_heads, L, S) of each head; undefined if not needed.
};

/// PyTorch's attention of several heads. Queries, keys and values are multiplied by weights, and divided into num_heads
/// parts of E / num_heads numbers. scaled_dot_product_attention combines each part, and the results together are
/// multiplied by out_proj_weight. query is (L, N, E), key (S, N, kdim) and value (S, N, vdim), with batch_first (N, L,
/// E) and so on. One sequence has no axis N. Without need_weights most devices write no scores to memory, and a
/// query that sees no key gets out_proj_bias. With need_weights it gets NaN, as softmax gives it. All tensors
/// of floating-point numbers have gradients. Throws invalid_argument for shapes and dtypes that do not fit.
CRISOL_API MultiHeadResult multi_head_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                                const MultiHeadWeights& weights, const MultiHeadOptions& options,
                                                const AttentionMasks& masks = {});

}  // namespace crisol
