#include "base/text.h"
#include "crisol/ops/elementwise.h"
#include "ops/pointwise_program.h"

namespace crisol::ops {

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  require(condition.defined() && a.defined() && b.defined(), "where", "an input is undefined");
  static ProgramsByDType programs;
  const DType dtype = a.dtype();
  return programs
      .get(static_cast<std::size_t>(dtype),
           [&] {
             return new PointwiseProgram({"where", "condition a b", "condition != (T)(0) ? a : b"},
                                         {DType::boolean, dtype, dtype}, dtype);
           })
      .run({&condition, &a, &b});
}

Tensor where_backward_a(const Tensor& dy, const Tensor& condition) {
  static const PointwiseProgram program({"where_backward_a", "dy condition", "condition != 0.0f ? dy : (T)(0.0f)"},
                                        {DType::f32, DType::boolean}, DType::f32);
  return program.run({&dy, &condition});
}

Tensor where_backward_b(const Tensor& dy, const Tensor& condition) {
  static const PointwiseProgram program({"where_backward_b", "dy condition", "condition != 0.0f ? (T)(0.0f) : dy"},
                                        {DType::f32, DType::boolean}, DType::f32);
  return program.run({&dy, &condition});
}

}  // namespace crisol::ops
