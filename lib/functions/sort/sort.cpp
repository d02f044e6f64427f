#include "crisol/functions/sort.h"

#include "autograd/call.h"
#include "base/text.h"
#include "crisol/functions/index.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "crisol/ops/sort.h"
#include "ops/check.h"
#include "tensor/trace.h"

namespace crisol {

using autograd::call;
using autograd::Saved;

namespace {

/// Notes the values and the positions of the first elements in order.
std::vector<Trace::Value> note_order(Trace& trace, const Tensor& x, const Tensor& indices, int axis, bool descending) {
  const std::int64_t count = x.dim() == 0 ? 1 : indices.size(axis);
  std::vector<Trace::Value> made = trace.node(GraphOp::topk, {trace.of(x), trace.numbers({count})},
                                              {{"axis", axis}, {"largest", descending ? 1 : 0}}, 2);
  trace.bind(indices, made[1]);
  return made;
}

SortResult ordered(const char* op, const Tensor& x, const SortResult& result, int axis, bool descending) {
  const auto note = [&](Trace& trace, const Tensor& values) {
    trace.bind(values, note_order(trace, x, result.indices, axis, descending)[0]);
  };
  const Tensor values = call(op, {x}, result.values, note, [&] {
    return [indices = Saved(result.indices), shape = x.shape(), axis](const Tensor& dy) {
      if (shape.rank() == 0) return dy;
      return scatter_add(zeros(shape, dy.dtype(), dy.device()), axis, indices.get(), dy);
    };
  });
  return {values, result.indices};
}

}  // namespace

SortResult sort(const Tensor& x, int axis, bool descending) {
  return ordered("sort", x, ops::sort(x, axis, descending), axis, descending);
}

SortResult topk(const Tensor& x, std::int64_t k, int axis, bool largest) {
  return ordered("topk", x, ops::topk(x, k, axis, largest), axis, largest);
}

Tensor argsort(const Tensor& x, int axis, bool descending) {
  return autograd::noted(ops::argsort(x, axis, descending),
                         [&](Trace& trace, const Tensor& y) { note_order(trace, x, y, axis, descending); });
}

Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right, const Tensor& sorter) {
  constexpr const char* op = "searchsorted";
  require(sorted.defined() && values.defined(), op, "a tensor is undefined");
  const DType dtype = promote_types(sorted.dtype(), values.dtype());
  Tensor list = ops::cast(sorted, dtype);
  if (sorter.defined()) {
    require(sorter.shape() == sorted.shape(), op, "the sorter has shape ", sorter.shape(), ", the sorted tensor ",
            sorted.shape());
    list = ops::index_select(list, 0, sorter);
  }
  return ops::searchsorted(list, ops::cast(values, dtype), right);
}

Tensor isin(const Tensor& x, const Tensor& values, bool invert) {
  constexpr const char* op = "isin";
  require(x.defined() && values.defined(), op, "a tensor is undefined");
  ops::require_device(op, "the tensor", x, "the values", values);
  if (values.numel() == 0) return full(x.shape(), invert, DType::boolean, x.device());
  const DType dtype = promote_types(x.dtype(), values.dtype());
  const Tensor all = ops::cast(x, dtype);
  const Tensor list = ops::sort(ops::cast(values, dtype).detach().reshape({values.numel()})).values;
  const Tensor place = ops::minimum(ops::searchsorted(list, all), values.numel() - 1);
  const Tensor found = ops::index_select(list, 0, place.reshape({x.numel()})).reshape(x.shape());
  return invert ? ops::ne(found, all) : ops::eq(found, all);
}

}  // namespace crisol
