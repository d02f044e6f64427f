// Reading rows of a table by index, and the gradient of the table.
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/index.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/index/indexing.h"
#include "ops/rehearsed.h"

namespace crisol::ops {

namespace {

const Table<ScatterProblem> backward_table("embedding_backward", scatter_variants());

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices) {
  constexpr const char* op = "embedding";
  require_index(op, weight, indices);
  require(weight.dim() == 2, op, "the weight must be (V, D), its shape is ", weight.shape());
  check_indices(op, indices, weight.shape()[0]);
  const IndexScope scope(op);
  Shape shape = indices.shape();
  shape.push_back(weight.shape()[1]);
  return reshape(select_slices(weight, 0, Contiguous(indices)), shape);
}

Tensor embedding_backward(const Tensor& dy, const Tensor& indices, std::int64_t num_embeddings,
                          std::optional<std::int64_t> padding_idx) {
  const char* const op = backward_table.op;
  require_index(op, dy, indices);
  require(is_floating(dy.dtype()), op, "the gradient must be ", TypesThat{is_floating}, ", it is ", dy.dtype());
  require(dy.dim() > 0, op, "the gradient must be (..., D), its shape is ", dy.shape());
  Shape shape = indices.shape();
  const std::int64_t width = dy.shape().back();
  shape.push_back(width);
  require_shape(op, "the gradient", dy, shape);
  require(num_embeddings >= 0, op, "num_embeddings is ", num_embeddings);
  require(!padding_idx || (*padding_idx >= 0 && *padding_idx < num_embeddings), op, "padding_idx ",
          padding_idx.value_or(0), " is not in [0, ", num_embeddings, ")");
  check_indices(op, indices, num_embeddings);
  return rehearsed(call_key(op, {&dy, &indices}, {num_embeddings}), [&] {
    const Tensor sums = zeros({num_embeddings, width}, DType::f32, dy.device());
    index_add_into(backward_table, sums, {1, num_embeddings, width}, reshape(indices, {indices.numel()}), dy,
                   padding_idx);
    return cast(sums, dy.dtype());
  });
}

}  // namespace crisol::ops
