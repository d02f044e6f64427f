#include "crisol/functions/select.h"

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/index.h"
#include "crisol/ops/cat.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/collapse.h"

namespace crisol {

namespace {

Tensor numbers(std::int64_t count, Device device) {
  return arange(0, static_cast<double>(count), 1, DType::i64, device);
}

/// The positions of the rows of x (n, m) in ascending order. Equal rows keep their order.
Tensor order_of_rows(const Tensor& x) {
  Tensor order = numbers(x.size(0), x.device());
  // The sort is stable, so the first column, which is sorted last, decides.
  for (std::int64_t column = x.size(1) - 1; column >= 0; --column) {
    const Tensor keys = ops::index_select(ops::narrow(x, 1, column, 1).reshape({x.size(0)}), 0, order);
    order = ops::index_select(order, 0, ops::argsort(keys, 0, false));
  }
  return order;
}

/// Whether each row of x (n, m) differs from the row before it. This is true for the first row.
Tensor starts_of_runs(const Tensor& x) {
  const std::int64_t n = x.size(0);
  const Tensor differs = ops::ne(ops::narrow(x, 0, 1, n - 1), ops::narrow(x, 0, 0, n - 1));
  return ops::cat({ones({1}, DType::boolean, x.device()), ops::any(differs, {1})}, 0);
}

/// Puts the values of a result into the order in which they first appear.
void order_by_appearance(UniqueResult& result) {
  const Tensor order = ops::argsort(result.indices, 0, false);
  const Tensor places = ops::index_copy(zeros_like(order), 0, order, numbers(order.numel(), order.device()));
  result.indices = ops::index_select(result.indices, 0, order);
  result.counts = ops::index_select(result.counts, 0, order);
  result.inverse = ops::index_select(places, 0, result.inverse);
}

/// All parts of the result except for the values.
UniqueResult groups_of_rows(const Tensor& x, bool sorted) {
  const std::int64_t n = x.size(0);
  if (n == 0) {
    const Tensor none = empty({0}, DType::i64, x.device());
    return {{}, none, none, none};
  }
  const Tensor order = order_of_rows(x);
  const Tensor is_start = starts_of_runs(ops::index_select(x, 0, order));
  const Tensor group = ops::sub(ops::cumsum(is_start, 0), 1);
  const Tensor starts = ops::reshape(ops::nonzero(is_start), {-1});
  const std::int64_t count = starts.numel();
  const Tensor ends = ops::cat({ops::narrow(starts, 0, 1, count - 1), full({1}, n, DType::i64, x.device())}, 0);
  UniqueResult result{{},
                      ops::index_select(order, 0, starts),
                      ops::index_copy(zeros_like(order), 0, order, group),
                      ops::sub(ends, starts)};
  if (!sorted) order_by_appearance(result);
  return result;
}

}  // namespace

Tensor nonzero(const Tensor& x) { return ops::nonzero(x); }

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  constexpr const char* op = "masked_select";
  require(x.defined() && mask.defined(), op, "a tensor is undefined");
  ops::require_dtype(op, "the mask", mask, DType::boolean);
  ops::require_device(op, "the tensor", x, "the mask", mask);
  const Shape shape = ops::broadcast_shape(op, x.shape(), mask.shape());
  const Tensor positions = ops::reshape(ops::nonzero(ops::reshape(mask.expand(shape), {-1})), {-1});
  return index_select(x.expand(shape).reshape({-1}), 0, positions);
}

Tensor repeat_interleave(const Tensor& x, std::int64_t count, std::optional<int> axis) {
  constexpr const char* op = "repeat_interleave";
  require(x.defined(), op, "the tensor is undefined");
  require(count >= 0, op, "the count ", count, " is negative");
  if (!axis) return repeat_interleave(x.reshape({x.numel()}), count, 0);
  const int at = normalized_axis(op, *axis, x.dim());
  Shape shape = x.shape();
  shape.insert(at + 1, count);
  Shape merged = x.shape();
  merged[at] *= count;
  const Tensor y = x.unsqueeze(at + 1).expand(shape).reshape(merged);
  return y.shares_storage_with(x) ? y.clone() : y;
}

Tensor repeat_interleave(const Tensor& x, const Tensor& counts, std::optional<int> axis) {
  constexpr const char* op = "repeat_interleave";
  require(x.defined() && counts.defined(), op, "a tensor is undefined");
  require(is_whole(counts.dtype()), op, "the counts must be ", TypesThat{is_whole}, ", they are ", counts.dtype());
  ops::require_device(op, "the tensor", x, "the counts", counts);
  if (!axis) return repeat_interleave(x.reshape({x.numel()}), counts, 0);
  const int at = normalized_axis(op, *axis, x.dim());
  const std::int64_t size = x.size(at);
  require(counts.dim() <= 1 && (counts.numel() == 1 || counts.numel() == size), op, "counts of shape ", counts.shape(),
          " for the ", size, " slices along axis ", at, " of shape ", x.shape());
  if (size == 0) return x.clone();
  const std::int64_t least = ops::min(counts).item<std::int64_t>();
  require(least >= 0, op, "the count ", least, " is negative");
  const Tensor ends = ops::cumsum(counts.expand({size}), 0);
  const Tensor places = numbers(ops::narrow(ends, 0, size - 1, 1).item<std::int64_t>(), x.device());
  return index_select(x, at, ops::searchsorted(ends, places, true));
}

UniqueResult unique(const Tensor& x, const UniqueOptions& options) {
  constexpr const char* op = "unique";
  require(x.defined(), op, "the tensor is undefined");
  if (!options.axis) {
    const Tensor all = x.reshape({x.numel()});
    UniqueResult result = groups_of_rows(all.detach().reshape({x.numel(), 1}), options.sorted);
    result.values = index_select(all, 0, result.indices);
    return result;
  }
  const int axis = normalized_axis(op, *options.axis, x.dim());
  Shape order{axis};
  std::int64_t width = 1;
  for (int i = 0; i < x.dim(); ++i)
    if (i != axis) order.push_back(i), width *= x.size(i);
  UniqueResult result = groups_of_rows(ops::reshape(ops::permute(x, order), {x.size(axis), width}), options.sorted);
  result.values = index_select(x, axis, result.indices);
  return result;
}

}  // namespace crisol
