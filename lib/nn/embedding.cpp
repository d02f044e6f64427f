#include "crisol/nn/embedding.h"

#include "base/text.h"
#include "crisol/functions/index.h"
#include "crisol/nn/init.h"

namespace crisol::nn {

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& options)
    : padding_idx_(options.padding_idx) {
  require(num_embeddings > 0 && embedding_dim > 0, "Embedding", "num_embeddings ", num_embeddings,
          " and embedding_dim ", embedding_dim, " must be positive");
  Tensor values = empty({num_embeddings, embedding_dim});
  if (padding_idx_) {
    require(*padding_idx_ >= -num_embeddings && *padding_idx_ < num_embeddings, "Embedding", "padding_idx ",
            *padding_idx_, " is not in [", -num_embeddings, ", ", num_embeddings, ")");
    if (*padding_idx_ < 0) *padding_idx_ += num_embeddings;
  }
  init::normal_(values, 0, 1);
  if (padding_idx_) values.narrow(0, *padding_idx_, 1).zero_();
  weight = values;
  register_parameter("weight", weight);
}

Tensor Embedding::forward(const Tensor& x) { return embedding(weight, x, padding_idx_); }

std::string Embedding::extra_repr() const {
  const std::string sizes = concat(weight.size(0), ", ", weight.size(1));
  return padding_idx_ ? concat(sizes, ", padding_idx=", *padding_idx_) : sizes;
}

}  // namespace crisol::nn
