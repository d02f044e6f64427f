// Options of scaled_dot_product_attention.
#pragma once

#include <optional>

namespace crisol {

/// Settings of scaled_dot_product_attention.
struct AttentionOptions {
  bool is_causal = false;            ///< Query i sees only those of the keys 0 … i that the mask allows.
  std::optional<double> scale = {};  ///< The factor of the scores. Without a value it is 1 / sqrt(E).
  bool enable_gqa = false;           ///< Several heads of queries share one head of keys and values.
  double dropout_p = 0;              ///< Drops probabilities, as dropout() does in training.
};

}  // namespace crisol
