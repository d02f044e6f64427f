#include "ops/reduce/reduce_tensor.h"

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/reduce/reduce_problem.h"
#include "ops/result.h"
#include "runtime/op_scope.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using namespace dispatch;

ReduceResult empty_result(const ReduceRule& reduction, DType type, const Shape& shape, Device device) {
  ReduceResult result{empty(shape, result_type(reduction.types, type), device), {}};
  if (finds_positions(reduction.combine)) result.positions = empty(shape, DType::i64, device);
  return result;
}

ReduceResult reduce(const ReduceRule& reduction, const Tensor& x, const Shape& axes, bool keepdim, double parameter,
                    const ReduceInto& into) {
  const char* const op = reduction.op;
  const runtime::OpScope scope(op);
  require(x.defined(), op, "the tensor is undefined");
  // More axes merge in a row-major tensor.
  if (x.dim() > runtime::kernel_axes && !x.is_contiguous())
    return reduce(reduction, contiguous(x), axes, keepdim, parameter, into);
  const unsigned reduced = reduced_axes(op, x.dim(), axes);
  check_reduce_type(reduction, x.dtype());
  const Shape shape = reduced_shape(x.shape(), reduced, keepdim);
  const bool has_elements = reduced_count(x.shape(), reduced) > 0;
  require(!reduction.needs_elements || has_elements || shape.numel() == 0, op, "no elements to reduce in shape ",
          x.shape());
  require_apart(op, into.values, into.positions);
  Result values(op, into.values, shape, result_type(reduction.types, x.dtype()), x.device(), {&x}), positions;
  if (finds_positions(reduction.combine)) positions = Result(op, into.positions, shape, DType::i64, x.device(), {&x});
  const auto done = [&] { return ReduceResult{values.done(), positions.done()}; };
  if (shape.numel() == 0) return done();
  const ReduceProblem problem =
      reduce_problem(reduction, {x.dtype(), x.shape(), x.strides(), in(x).offset}, reduced, parameter);
  const PreparedPtr prepared = prepare(reduce_table, problem, state_of(x));
  if (positions.place().defined())
    launch(*prepared, {in(x), out(values), out(positions)});
  else
    launch(*prepared, {in(x), out(values)});
  return done();
}

}  // namespace crisol::ops
