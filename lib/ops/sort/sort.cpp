#include "crisol/ops/sort.h"

#include "ops/result.h"
#include "ops/sort/ordered_axis.h"
#include "ops/sort/sort_rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

SortResult sort(const Tensor& x, int axis, bool descending) {
  require(x.defined(), sort_table.op, "the tensor is undefined");
  const OrderedAxis ordered(sort_table.op, x, axis);
  const Tensor& elements = ordered.rows();
  const std::int64_t rows = elements.shape()[0], n = ordered.length();
  const SortResult sorted = ordered.empty_result(n);
  const Contiguous values = ordered.restored(sorted.values), indices = ordered.restored(sorted.indices);
  if (elements.numel() > 0) {
    const SortProblem problem{rows, n, static_cast<std::int64_t>(x.dtype()), descending ? 1 : 0, n};
    const PreparedPtr prepared = prepare(sort_table, problem, state_of(x));
    ordered.fill();
    launch(*prepared, {in(elements), out(sorted.values), out(sorted.indices)});
  }
  return {ordered.result(values), ordered.result(indices)};
}

Tensor argsort(const Tensor& x, int axis, bool descending) { return sort(x, axis, descending).indices; }

void sort_into(const Tensor& values, const Tensor& indices, const Tensor& x, int axis, bool descending) {
  deliver(sort_table.op, {&values, &indices}, {&x}, [&] { return results_of(sort(x, axis, descending)); });
}

void argsort_into(const Tensor& indices, const Tensor& x, int axis, bool descending) {
  deliver("argsort", {&indices}, {&x}, [&] { return std::array{argsort(x, axis, descending)}; });
}

}  // namespace crisol::ops
