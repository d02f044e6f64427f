// Reading rows of a table by index, and the gradient of the table.
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/index.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/index/indexing.h"
#include "ops/result.h"

namespace crisol::ops {

namespace {

const Table<ScatterProblem> backward_table("embedding_backward", scatter_variants());

}  // namespace

namespace {

Tensor look_up(const Tensor& weight, const Tensor& indices, const Tensor* into = nullptr) {
  constexpr const char* op = "embedding";
  require_index(op, weight, indices);
  require(weight.dim() == 2, op, "the weight must be (V, D), its shape is ", weight.shape());
  check_indices(op, indices, weight.shape()[0]);
  const IndexScope scope(op);
  Shape shape = indices.shape();
  shape.push_back(weight.shape()[1]);
  Result y(op, into, shape, weight.dtype(), weight.device(), {&weight, &indices});
  const Tensor rows = reshape(y.place(), {indices.numel(), weight.shape()[1]});
  select_slices(weight, 0, Contiguous(indices), &rows);
  return y.done();
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices) { return look_up(weight, indices); }
void embedding_into(const Tensor& y, const Tensor& weight, const Tensor& indices) { look_up(weight, indices, &y); }

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
  const Tensor sums = zeros({num_embeddings, width}, value_type(dy.dtype()), dy.device());
  add_at(backward_table, sums, {1, num_embeddings, width}, reshape(indices, {indices.numel()}), dy, padding_idx);
  return cast(sums, dy.dtype());
}

void embedding_backward_into(const Tensor& dweight, const Tensor& dy, const Tensor& indices,
                             std::int64_t num_embeddings, std::optional<std::int64_t> padding_idx) {
  deliver(backward_table.op, {&dweight}, {&dy, &indices},
          [&] { return std::array{embedding_backward(dy, indices, num_embeddings, padding_idx)}; });
}

}  // namespace crisol::ops
