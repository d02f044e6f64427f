// Attention of several heads as a layer.
#pragma once

#include "crisol/functions/attention.h"
#include "crisol/nn/linear.h"

namespace crisol::nn {

/// PyTorch's options of MultiheadAttention.
struct MultiheadAttentionOptions {
  double dropout = 0;                     ///< The probability with which a probability is dropped in training.
  bool bias = true;                       ///< Adds biases to queries, keys, values and results.
  bool add_bias_kv = false;               ///< Appends a trained key and value to those of each sequence.
  bool add_zero_attn = false;             ///< Appends a key and a value of zeros.
  std::optional<std::int64_t> kdim = {};  ///< The numbers of a key. Without a value embed_dim.
  std::optional<std::int64_t> vdim = {};  ///< The numbers of a value. Without a value embed_dim.
  bool batch_first = false;               ///< Inputs are (N, length, …), otherwise (length, N, …).
};

/// multi_head_attention() with trained weights, under PyTorch's names and with its first values. If kdim or vdim
/// differs from embed_dim, there are three weights in place of in_proj_weight.
class CRISOL_API MultiheadAttention : public Module {
 public:
  /// Throws invalid_argument if num_heads does not divide embed_dim, and for a dropout outside [0, 1].
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, const MultiheadAttentionOptions& options = {});
  /// The output for a sequence x that is query, key and value.
  Tensor forward(const Tensor& x) override;
  /// The output in the shape of the query, and with need_weights the probabilities (N, L, S), or those of each head
  /// (N, num_heads, L, S).
  MultiHeadResult forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMasks& masks = {},
                          bool need_weights = true, bool average_weights = true);
  using Module::operator();
  /// Calls the hooks and forward(). Hooks see the query and the output.
  MultiHeadResult operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                             const AttentionMasks& masks = {}, bool need_weights = true, bool average_weights = true);
  std::int64_t embed_dim() const noexcept { return embed_dim_; }  ///< The numbers of a query.
  std::int64_t num_heads() const noexcept { return num_heads_; }  ///< The number of heads.
  /// The options of the constructor.
  const MultiheadAttentionOptions& options() const noexcept { return options_; }

  Parameter in_proj_weight;  ///< (3 embed_dim, embed_dim); undefined if there are three weights.
  Parameter q_proj_weight;   ///< (embed_dim, embed_dim), or undefined.
  Parameter k_proj_weight;   ///< (embed_dim, kdim), or undefined.
  Parameter v_proj_weight;   ///< (embed_dim, vdim), or undefined.
  Parameter in_proj_bias;    ///< (3 embed_dim); undefined without bias.
  Parameter bias_k;          ///< (1, 1, embed_dim); undefined unless add_bias_kv.
  Parameter bias_v;          ///< (1, 1, embed_dim); undefined unless add_bias_kv.
  Linear out_proj;           ///< Its bias starts as 0.

 private:
  std::int64_t embed_dim_, num_heads_;
  MultiheadAttentionOptions options_;
};

}  // namespace crisol::nn
