#include "crisol/ops/sort.h"

#include "base/text.h"
#include "ops/sort/ordered_axis.h"
#include "ops/sort/sort_entries.h"

namespace crisol::ops {

SortResult sort(const Tensor& x, int axis, bool descending) {
  const OrderedAxis ordered("sort", x, axis);
  return ordered.result(take_elements(ordered.rows(), sorted_entries(ordered.rows(), descending), ordered.length()));
}

Tensor argsort(const Tensor& x, int axis, bool descending) { return sort(x, axis, descending).indices; }

}  // namespace crisol::ops
