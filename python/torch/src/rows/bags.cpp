// Embeddings of bags: the sum or the mean of the rows whose indices lie between two offsets.
#include "call.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Scalar;
using crisol::Tensor;

constexpr std::int64_t mean_mode = 1, largest_mode = 2;

Tensor column(const Tensor& x) { return ops::unsqueeze(x, 1); }

// The gradient, or the sum, of each bag divided by the number of its elements.
Tensor divided(const Tensor& bags, const Tensor& sizes) {
  return ops::div(bags, column(ops::cast(ops::maximum(sizes, Scalar(1)), bags.dtype())));
}

// 1 for each index that counts, and 0 for the index of padding. A negative one means that all count.
Tensor counting(const Tensor& indices, std::int64_t padding, DType type) {
  if (padding < 0) return crisol::ones(indices.shape(), type, indices.device());
  return ops::cast(ops::ne(indices, Scalar(padding)), type);
}

// (weight, indices, offsets, scale_grad_by_freq, mode, sparse, factors, with a last offset, padding): the bags, the bag
// of each index, the sizes of the bags, and nothing, which would be the positions of the largest elements.
Results bags_of(const Call& c) {
  const Tensor weight = c.tensor(0), indices = c.tensor(1), offsets = c.tensor(2), factors = c.tensor(6);
  const std::int64_t mode = c.whole(4), padding = c.whole(8), count = offsets.numel() - (c.flag(7) ? 1 : 0);
  need(mode != largest_mode, "the largest elements of bags");
  need(weight.dim() == 2 && indices.dim() == 1 && offsets.dim() == 1 && count > 0, "bags of other shapes");
  const Tensor numbers = crisol::arange(0, static_cast<double>(indices.numel()), 1, offsets.dtype(), indices.device());
  const Tensor bags = ops::sub(ops::searchsorted(ops::narrow(offsets, 0, 0, count), numbers, true), Scalar(1));
  Tensor rows = ops::index_select(weight, 0, indices);
  if (factors.defined()) rows = ops::mul(rows, column(factors));
  if (padding >= 0) rows = ops::mul(rows, column(counting(indices, padding, rows.dtype())));
  const Tensor sums =
      ops::index_add(crisol::zeros({count, weight.size(1)}, weight.dtype(), weight.device()), 0, bags, rows);
  const Tensor sizes = ops::index_add(crisol::zeros({count}, DType::i64, weight.device()), 0, bags,
                                      counting(indices, padding, DType::i64));
  return {wrap(mode == mean_mode ? divided(sums, sizes) : sums), wrap(ops::cast(bags, indices.dtype())),
          wrap(ops::cast(sizes, offsets.dtype())), wrap(crisol::empty({0}, offsets.dtype(), weight.device()))};
}

// (dy, indices, offsets, bags, sizes, largest, number of rows, scale_grad_by_freq, mode, sparse, factors, padding)
Tensor bags_backward(const Call& c) {
  need(!c.flag(7) && !c.flag(9) && c.whole(8) != largest_mode, "a gradient of bags of this kind");
  const Tensor sizes = c.tensor(4), factors = c.tensor(10);
  const Tensor dy = c.whole(8) == mean_mode ? divided(c.tensor(0), sizes) : c.tensor(0);
  Tensor rows = ops::index_select(dy, 0, c.tensor(3));
  if (factors.defined()) rows = ops::mul(rows, column(factors));
  const std::int64_t padding = c.whole(11);
  return ops::embedding_backward(rows, c.tensor(1), c.whole(6), padding < 0 ? std::nullopt : std::optional(padding));
}

// (dy, weight, indices, offsets, bags, mode, padding)
Tensor factors_backward(const Call& c) {
  need(c.whole(5) == 0, "factors of bags without sums");
  const Tensor indices = c.tensor(2), dy = ops::index_select(c.tensor(0), 0, c.tensor(4));
  const Tensor each = ops::sum(ops::mul(dy, ops::index_select(c.tensor(1), 0, indices)), {1});
  return ops::mul(each, counting(indices, c.whole(6), each.dtype()));
}

}  // namespace

Rows bag_rows() {
  return {
      {"_embedding_bag", bags_of},
      {"_embedding_bag_forward_only", bags_of},
      {"_embedding_bag_backward", gives(bags_backward)},
      {"_embedding_bag_per_sample_weights_backward", gives(factors_backward)},
  };
}

}  // namespace crisol_torch
