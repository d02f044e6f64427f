// Layer that looks up rows of a table.
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/nn/module.h"

namespace crisol::nn {

/// Settings of Embedding.
struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = std::nullopt;  ///< A row that stays zero, counted from the end if negative.
};

/// y[…] = weight[x[…]]: one row of weight for each index. x (…) has whole numbers, and y is (…, embedding_dim).
/// weight starts with normal numbers of mean 0 and deviation 1, as in PyTorch. Row padding_idx starts as zero and gets
/// no gradient. An index out of range, also a negative one, is an error (see crisol/functions/index.h).
class CRISOL_API Embedding : public Module {
 public:
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& options = {});
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The row that stays zero, counted from 0.
  std::optional<std::int64_t> padding_idx() const noexcept { return padding_idx_; }

  Parameter weight;  ///< (num_embeddings, embedding_dim)

 private:
  std::optional<std::int64_t> padding_idx_;
};

}  // namespace crisol::nn
