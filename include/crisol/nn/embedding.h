// Table of vectors.
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/nn/module.h"

namespace crisol::nn {

/// Settings of Embedding.
struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = std::nullopt;  ///< A row that stays zero; negative: from the end.
};

/// y[…] = weight[x[…]]: a row of weight (num_embeddings, embedding_dim) for each index of x (…), i64 or i32, as
/// (…, embedding_dim). First values: normal with deviation 1, as PyTorch's. Row padding_idx, which counts from the end
/// where it is negative, is zero at first and gets no gradient. An index out of range gives a row of NaN (see
/// crisol/ops/index.h).
class CRISOL_API Embedding : public Module {
 public:
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& options = {});
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  Parameter weight;  ///< (num_embeddings, embedding_dim)

 private:
  std::optional<std::int64_t> padding_idx_;
};

}  // namespace crisol::nn
