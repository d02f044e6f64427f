// Positions of values in a sorted list: cl_kernels/sort/searchsorted.cl.
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/sort.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/result.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// Halves are compared as float.
DType compared(DType dtype) { return is_floating(dtype) ? value_type(dtype) : dtype; }

Tensor search(const Tensor& sorted, const Tensor& values, bool right, const Tensor* into = nullptr) {
  constexpr const char* op = "searchsorted";
  require(sorted.defined() && values.defined(), op, "a tensor is undefined");
  require(sorted.dim() == 1, op, "the sorted tensor must have rank 1, its shape is ", sorted.shape());
  require_dtype(op, "the values", values, sorted.dtype());
  require_device(op, "the sorted tensor", sorted, "the values", values);
  Result y(op, into, values.shape(), DType::i64, values.device(), {&sorted, &values});
  const std::int64_t count = values.numel();
  if (count == 0) return y.done();
  const DType dtype = compared(sorted.dtype());
  const Contiguous list(sorted, dtype), wanted(values, dtype);
  const dispatch::Target target = dispatch::target_of(state_of(values));
  const dispatch::WorkSplit split = split_for(target, count, 1024, 16, 64);
  runtime::launch(state_of(values),
                  {"sort/searchsorted.cl", "searchsorted", {{"T", number_type(dtype)}, {"RIGHT", right ? 1 : 0}}},
                  range_of(target, split.items), in(list), in(wanted), out(y), count, sorted.numel(), split.chunk);
  return y.done();
}

}  // namespace

Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right) { return search(sorted, values, right); }
void searchsorted_into(const Tensor& y, const Tensor& sorted, const Tensor& values, bool right) {
  search(sorted, values, right, &y);
}

}  // namespace crisol::ops
