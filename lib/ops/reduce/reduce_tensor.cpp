#include "ops/reduce/reduce_tensor.h"

#include "base/text.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/reduce/reduce_problem.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using namespace dispatch;

ReduceResult empty_result(const ReduceRule& reduction, DType type, const Shape& shape, Device device) {
  ReduceResult result{empty(shape, result_type(reduction.types, type), device), {}};
  if (finds_positions(reduction.combine)) result.positions = empty(shape, DType::i64, device);
  return result;
}

ReduceResult reduce(const ReduceRule& reduction, const Tensor& x, const Shape& axes, bool keepdim, double parameter) {
  const char* const op = reduction.op;
  require(x.defined(), op, "the tensor is undefined");
  const unsigned reduced = reduced_axes(op, x.dim(), axes);
  check_reduce_type(reduction, x.dtype());
  const Shape shape = reduced_shape(x.shape(), reduced, keepdim);
  const bool has_elements = reduced_count(x.shape(), reduced) > 0;
  require(!reduction.needs_elements || has_elements || shape.numel() == 0, op, "no elements to reduce in shape ",
          x.shape());
  const ReduceResult result = empty_result(reduction, x.dtype(), shape, x.device());
  if (shape.numel() == 0) return result;
  const ReduceProblem problem = reduce_problem(reduction, {x.dtype(), x.shape(), x.strides(), in(x).offset}, reduced,
                                               static_cast<float>(parameter));
  const PreparedPtr prepared = prepare(reduce_table, problem, state_of(x));
  if (result.positions.defined())
    launch(*prepared, {in(x), out(result.values), out(result.positions)});
  else
    launch(*prepared, {in(x), out(result.values)});
  return result;
}

}  // namespace crisol::ops
