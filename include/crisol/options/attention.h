// Options of scaled_dot_product_attention and multi_head_attention.
#pragma once

#include <cstdint>
#include <optional>

namespace crisol {

/// Settings of scaled_dot_product_attention.
struct AttentionOptions {
  bool is_causal = false;            ///< Query i sees only those of the keys 0 … i that the mask allows.
  std::optional<double> scale = {};  ///< The factor of the scores. Without a value it is 1 / sqrt(E).
  bool enable_gqa = false;           ///< Several heads of queries share one head of keys and values.
  double dropout_p = 0;              ///< Drops probabilities, as dropout() does in training.
};

/// Settings of multi_head_attention.
struct MultiHeadOptions {
  std::int64_t num_heads = 1;   ///< Divides E.
  double dropout_p = 0;         ///< Drops probabilities, as dropout() does in training.
  bool add_zero_attn = false;   ///< Appends a key and a value of zeros to those of each sequence.
  bool batch_first = false;     ///< The axes of sequences are (N, length, …), otherwise (length, N, …).
  bool need_weights = true;     ///< Also returns the probabilities.
  bool average_weights = true;  ///< Returns the mean of the heads' probabilities, otherwise those of each head.
};

}  // namespace crisol
